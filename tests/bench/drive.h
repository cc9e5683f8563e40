/* Runs a workload as the engine does, with less round it, and sees what it left behind. */
#ifndef TESTS_BENCH_DRIVE_H
#define TESTS_BENCH_DRIVE_H

#include "bench/workload.h"

enum { DRIVE_THREADS_MAX = 8 };

struct drive {
    /* asked */
    const struct bench_workload *workload;
    const struct peer *gate;
    unsigned threads;
    enum bench_touch touch;
    bool is_populated;
    size_t size; /* 0: the workload's default */
    unsigned iterations;
    void (*before_teardown)(void); /* may be NULL */
    /* found */
    int error;                           /* the first of setup(), enter() and step(), or 0 */
    const char *failed_call;             /* of that error */
    uint64_t phase[BENCH_PHASES], whole; /* how often each was timed */
    uint64_t phases_ns, whole_ns;        /* what all of them took, and whole iterations */
};

/* Runs it to its end or first failure; 0, or -EAGAIN where a thread could not be started. */
int drive_run(struct drive *d);

struct mapped {
    unsigned long mappings, bytes;
};

/* What /proc/self/maps has. Allocates nothing. */
struct mapped mapped_now(void);

/* Grows where a file was left open. */
int lowest_free_fd(void);

#endif
