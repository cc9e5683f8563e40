/*
 * `rwsem bench lock`: reader-writer locks against one another on the same work. Cells are cases
 * (threads, share of writes, time inside and outside); in each, every lock has its turn in shuffled
 * rounds. Rates come from rounds that read no clock, waits from rounds that time every one.
 */
#ifndef BENCH_LOCK_H
#define BENCH_LOCK_H

#include "bench/mmap.h"
#include "result/bench_lock.h"
#include "result/cpus.h"

enum { LOCK_CASES_MAX = 256, LOCK_THREADS_MAX = 1024 };

struct lock_plan {
    const struct peer *locks[PLAN_LIST_MAX];
    unsigned lock_count;
    struct lock_case cases[LOCK_CASES_MAX];
    unsigned case_count;
    uint64_t cell_ns;
    uint64_t patience_ns; /* a round that has not ended so long after its time hangs */
    unsigned rounds;
    uint64_t seed;
    bool is_pinned;
};

/* Rows of the preset of that name are added to the plan; threads may be multiples of `cpus`.
 * Returns 0, -ENOENT for an unknown name, -E2BIG when the plan is full. */
int lock_preset_add(struct lock_plan *plan, const char *name, unsigned cpus);

/* Names of presets, NULL at the end, and what each is about. */
extern const char *const lock_preset_names[];
const char *lock_preset_about(const char *name);

/* As bench_mmap_run(). */
int bench_lock_run(const struct lock_plan *plan, struct lock_record *record,
                   void (*progress)(void *context, const struct bench_progress *now),
                   void *context);

#endif
