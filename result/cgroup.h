/*
 * Where the control groups of this process are: version 1 and 2, every ancestor that is visible,
 * also inside a container, where the mount shows only part of the hierarchy.
 */
#ifndef RESULT_CGROUP_H
#define RESULT_CGROUP_H

#include <stdbool.h>

/* Called for one folder of a control group, `folder` as root_read() takes it. */
typedef void cgroup_visit(const char *root, const char *folder, bool is_v2, void *arg);

/*
 * Visits the group of this process and its ancestors up to what the mount shows, innermost first,
 * in each mounted hierarchy that may have `controller` ("cpu"). One that is mounted twice is
 * visited twice. Returns how many folders were visited, or a negative errno when /proc does not
 * tell or memory ran out.
 */
int cgroup_each(const char *root, const char *controller, cgroup_visit *visit, void *arg);

struct cgroup_limit {
    unsigned long long value; /* meaningless where there is none */
    bool is_limited;
};

/*
 * The tightest value in files called `v2_file` or `v1_file` (either may be NULL) of all those
 * groups. "max", negative numbers and version 1's "more than there can be" are no limit. Returns
 * like cgroup_each(); writes `out` if that is 0 or more.
 */
int cgroup_least(const char *root, const char *controller, const char *v2_file, const char *v1_file,
                 struct cgroup_limit *out);

/*
 * The tightest CPU quota of all those groups, in CPUs; 0: none. Returns like cgroup_each(); writes
 * `out` if that is 0 or more.
 */
int cgroup_cpu_quota(const char *root, double *out);

/* "v1", "v2", "v1 and v2" or "none" by what is mounted; NULL when /proc does not tell. */
const char *cgroup_version(const char *root);

#endif
