/*
 * Finds the control groups of this process from /proc/self/mountinfo and /proc/self/cgroup, and
 * reads limits there. The paths themselves may name users; they never leave this file.
 */
#include "result/cgroup.h"
#include "result/root.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One cgroup or cgroup2 line of mountinfo; the strings point into the line. */
struct mount {
    char *shown; /* the group that is mounted, as this process sees its name */
    char *point; /* where */
    char *options;
    bool is_v2;
};

/* Undoes mountinfo's \040 and the like in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/*
 * "36 35 98:0 /shown /point rw,noatime master:1 - cgroup source rw,cpu"; the optional fields
 * before the dash vary in number. False for another file system or a line that is not like that.
 */
static bool parse_mount(char *line, struct mount *out)
{
    line[strcspn(line, "\n")] = '\0';
    char *tail = strstr(line, " - ");
    if (!tail)
        return false;
    *tail = '\0';
    char *save = NULL;
    char *type = strtok_r(tail + 3, " ", &save);
    char *source = type ? strtok_r(NULL, " ", &save) : NULL;
    out->options = source ? strtok_r(NULL, " ", &save) : NULL;
    if (!out->options || (strcmp(type, "cgroup") != 0 && strcmp(type, "cgroup2") != 0))
        return false;
    out->is_v2 = strcmp(type, "cgroup2") == 0;
    char *field = strtok_r(line, " ", &save);
    for (int skipped = 0; field && skipped < 3; skipped++)
        field = strtok_r(NULL, " ", &save);
    out->shown = field;
    out->point = field ? strtok_r(NULL, " ", &save) : NULL;
    if (!out->point)
        return false;
    unescape(out->shown);
    unescape(out->point);
    return true;
}

/* Whether a comma-separated list has the word. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/*
 * The group of this process in the hierarchy with `controller`, or in version 2's: an allocated
 * string, or NULL with errno (0: it is in none).
 */
static char *group_of_self(const char *root, const char *controller, bool is_v2)
{
    FILE *file = root_open(root, "/proc/self/cgroup");
    if (!file)
        return NULL;
    char *line = NULL;
    char *found = NULL;
    size_t size = 0;
    errno = 0;
    while (!found && getline(&line, &size, file) > 0) {
        /* "4:cpu,cpuacct:/path", version 2 "0::/path" */
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':');
        char *path = names ? strchr(names + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        names++;
        if (is_v2 ? *names == '\0' : has_word(names, controller))
            found = strdup(path);
    }
    free(line);
    fclose(file);
    return found;
}

static bool is_above_namespace(const char *path)
{
    return strncmp(path, "/..", 3) == 0 && (path[3] == '/' || path[3] == '\0');
}

/*
 * What has to be appended to the mount point to come to `group`: "" or "/...". NULL when the mount
 * does not show that group or an ancestor of it.
 */
static const char *below_mount(const char *shown, const char *group)
{
    size_t length = strcmp(shown, "/") == 0 ? 0 : strlen(shown);
    if (strncmp(shown, group, length) == 0 && (group[length] == '/' || group[length] == '\0')) {
        const char *rest = group + length;
        if (!is_above_namespace(rest))
            return strcmp(rest, "/") == 0 ? "" : rest;
    }
    /*
     * A mount from outside a cgroup namespace shows as "/..", "/../..": an ancestor of ours, the
     * way down from which has no names here. Its own limits still count.
     */
    const char *above = shown;
    const char *ours = group;
    while (is_above_namespace(above) && is_above_namespace(ours)) {
        above += 3;
        ours += 3;
    }
    if (!is_above_namespace(above))
        return NULL;
    while (is_above_namespace(above))
        above += 3;
    return *above == '\0' ? "" : NULL;
}

/* Visits mount point + rest, then each folder above it up to the mount point. */
static int climb(const char *root, const struct mount *m, const char *rest, cgroup_visit *visit,
                 void *arg)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof(folder), "%s%s", m->point, rest);
    if (length < 0 || (size_t)length >= sizeof(folder))
        return 0;
    size_t top = strlen(m->point);
    int visited = 0;
    for (;;) {
        visit(root, folder, m->is_v2, arg);
        visited++;
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= top || !slash)
            return visited;
        /* The part below the mount point starts with a slash, so this never cuts into the point. */
        *slash = '\0';
    }
}

int cgroup_each(const char *root, const char *controller, cgroup_visit *visit, void *arg)
{
    FILE *file = root_open(root, "/proc/self/mountinfo");
    if (!file)
        return -errno;
    char *line = NULL;
    size_t size = 0;
    int result = 0;
    while (getline(&line, &size, file) > 0) {
        struct mount m;
        if (!parse_mount(line, &m) || (!m.is_v2 && !has_word(m.options, controller)))
            continue;
        char *group = group_of_self(root, controller, m.is_v2);
        if (!group && errno) {
            result = -errno;
            break;
        }
        const char *rest = group ? below_mount(m.shown, group) : NULL;
        if (rest)
            result += climb(root, &m, rest, visit, arg);
        free(group);
    }
    free(line);
    fclose(file);
    return result;
}

struct least {
    const char *v2_file;
    const char *v1_file;
    struct cgroup_limit limit;
};

static void take_least(const char *root, const char *folder, bool is_v2, void *arg)
{
    struct least *least = arg;
    const char *name = is_v2 ? least->v2_file : least->v1_file;
    long long value;
    if (!name || root_read_integer(root, &value, "%s/%s", folder, name) != 0 || value < 0)
        return;
    /* Version 1 tells "none" as the greatest page-aligned long. */
    if (value >= LLONG_MAX / 2)
        return;
    if (!least->limit.is_limited || (unsigned long long)value < least->limit.value)
        least->limit =
            (struct cgroup_limit){.value = (unsigned long long)value, .is_limited = true};
}

int cgroup_least(const char *root, const char *controller, const char *v2_file, const char *v1_file,
                 struct cgroup_limit *out)
{
    struct least least = {.v2_file = v2_file, .v1_file = v1_file};
    int visited = cgroup_each(root, controller, take_least, &least);
    if (visited >= 0)
        *out = least.limit;
    return visited;
}

/* Version 2's "cpu.max" is "QUOTA PERIOD" or "max PERIOD", version 1 has a file for each. */
static bool read_quota(const char *root, const char *folder, bool is_v2, long long *quota,
                       long long *period)
{
    if (!is_v2)
        return root_read_integer(root, quota, "%s/cpu.cfs_quota_us", folder) == 0 &&
               root_read_integer(root, period, "%s/cpu.cfs_period_us", folder) == 0;
    char text[64];
    char rest;
    return root_read(root, text, sizeof(text), "%s/cpu.max", folder) > 0 &&
           sscanf(text, "%lld %lld %c", quota, period, &rest) == 2;
}

static void take_quota(const char *root, const char *folder, bool is_v2, void *arg)
{
    double *least = arg;
    long long quota, period;
    if (!read_quota(root, folder, is_v2, &quota, &period) || quota <= 0 || period <= 0)
        return;
    double cpus = (double)quota / (double)period;
    if (*least == 0 || cpus < *least)
        *least = cpus;
}

int cgroup_cpu_quota(const char *root, double *out)
{
    double least = 0;
    int visited = cgroup_each(root, "cpu", take_quota, &least);
    if (visited >= 0)
        *out = least;
    return visited;
}

const char *cgroup_version(const char *root)
{
    static const char *const names[] = {"none", "v1", "v2", "v1 and v2"};
    FILE *file = root_open(root, "/proc/self/mountinfo");
    if (!file)
        return NULL;
    char *line = NULL;
    size_t size = 0;
    unsigned seen = 0;
    while (getline(&line, &size, file) > 0) {
        struct mount m;
        if (parse_mount(line, &m))
            seen |= m.is_v2 ? 2u : 1u;
    }
    free(line);
    fclose(file);
    return names[seen];
}
