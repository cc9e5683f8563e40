/*
 * `rwsem bench mmap`: the grid of threads and gates, in rounds in which every gate has its turn in
 * shuffled order.
 */
#ifndef BENCH_MMAP_H
#define BENCH_MMAP_H

#include "bench/plan.h"
#include "result/bench_mmap.h"

struct bench_progress {
    const char *doing;    /* "4 threads, spin" */
    unsigned done, total; /* measured pieces */
    uint64_t left_ns;     /* a guess at the time that is left; 0: unknown */
};

/*
 * Runs the plan, which plan_check() has passed, and fills `record`; `progress` is called before
 * each piece and may be NULL. On return the record holds all that was measured, also after an
 * interruption (interrupted_by says so) and after an error. Returns 0 or a negative errno; the
 * caller frees the record either way. The plan must outlive the record.
 */
int bench_mmap_run(const struct bench_plan *plan, struct mmap_record *record,
                   void (*progress)(void *context, const struct bench_progress *now),
                   void *context);

#endif
