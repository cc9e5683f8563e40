/*
 * How many CPUs this process may really use: the affinity mask and the CPU quota of its control
 * groups count, not the number of CPUs online. Both hierarchies (v1 and v2) are read, up to the
 * root of what is visible.
 */
#ifndef RESULT_CPUS_H
#define RESULT_CPUS_H

enum { CPUS_MAX = 8192 }; /* the most that Linux can be configured for */

struct cpus {
    unsigned usable;    /* min(allowed, quota rounded up), at least 1 */
    unsigned allowed;   /* in the affinity mask of the calling thread, at least 1 */
    unsigned online;    /* at least 1 */
    double quota;       /* CPUs that the tightest quota grants; 0: none set */
    int list[CPUS_MAX]; /* the allowed CPUs, ascending; `allowed` of them */
};

/* Reads them afresh. Cannot fail: what can't be read counts as not limited. */
void cpus_read(struct cpus *out);

/*
 * The same with /proc and /sys of `root` ("" is the machine's own; see root.h). The affinity mask
 * is always that of the calling thread.
 */
void cpus_read_from(const char *root, struct cpus *out);

/* min(allowed, quota rounded up), at least 1; a quota of 0 is none. */
unsigned cpus_usable(unsigned allowed, double quota);

#endif
