/* One gate in one round of `rwsem bench mmap`. */
#ifndef BENCH_ROUND_H
#define BENCH_ROUND_H

#include "bench/plan.h"
#include "result/bench_mmap.h"
#include "result/cpus.h"

struct round_request {
    const struct bench_plan *plan;
    const struct peer *gate;
    unsigned threads;
    uint64_t round_ns;       /* timed: how long; 0: by plan->iterations, at most plan->limit_ns */
    const struct cpus *cpus; /* where threads are pinned, if the plan says so */
};

/*
 * Runs it and fills `round` (outcome and raw figures; thread_iterations must have room for all
 * threads), adds the latencies to `phase` (MMAP_PHASES of them) and `whole`, and says in `note`
 * what failed: the workload, or our own preparations for want of memory. Blocks for the round's
 * time; bench_interrupt() ends it early.
 */
void round_run(const struct round_request *request, struct round_figures *round, struct hist *phase,
               struct hist *whole, char *note, size_t note_size);

/* Cost of measuring alone: nanoseconds that the loop takes an iteration with `laps` laps. */
double round_overhead_ns(unsigned laps);

#endif
