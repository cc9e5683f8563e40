/*
 * What `rwsem bench mmap` is to do: filled by the command line, checked once, never changed while
 * it runs.
 */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include "bench/workload.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLAN_THREADS_MAX = 4096, /* threads of one cell */
    PLAN_LIST_MAX = 32,      /* gates, or thread counts */
    PLAN_ROUNDS_MAX = 1000,
};

struct bench_plan {
    const struct bench_workload *workload;
    const struct peer *gates[PLAN_LIST_MAX];
    unsigned gate_count;
    unsigned threads[PLAN_LIST_MAX];
    unsigned thread_count;
    enum bench_touch touch;
    bool is_populated;
    bool is_pinned;
    bool has_switches; /* measure the switch costs too */
    uint64_t size;     /* bytes, a multiple of the page size */
    uint64_t cell_ns;  /* timed: a gate's time in a cell, all rounds; 0: by iterations */
    uint64_t iterations;
    uint64_t limit_ns;
    unsigned rounds;
    uint64_t seed;
};

/*
 * Says whether the machine can carry the plan: memory that would be touched at once, threads,
 * address space. Returns 0, or -EINVAL (the plan makes no sense) or -ENOMEM (too much for this
 * machine), with the reason and what to try in `why`.
 */
int plan_check(const struct bench_plan *plan, char *why, size_t why_size);

const char *touch_name(enum bench_touch touch);

#endif
