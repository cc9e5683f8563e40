/*
 * A crew: threads that start together, work until they are done or told to stop, and are joined.
 * What they do is the caller's. One crew runs at a time.
 */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

#include "result/cpus.h"
#include "result/series.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crew_job {
    unsigned threads;
    const struct cpus *pin_to; /* threads are pinned to these in turn; NULL: not pinned */
    uint64_t most_ns;          /* is_over is set after this time */
    _Atomic bool *is_over;     /* what the work looks at; set once, by us or by whoever fails */
    void *context;
    /* In each thread, with signals blocked. 0 or a negative errno; enter and leave may be NULL. */
    int (*enter)(void *context, unsigned index); /* before the start */
    int (*work)(void *context, unsigned index, uint64_t *iterations);
    void (*leave)(void *context, unsigned index); /* if enter succeeded */
    /* Called once, in the thread that failed first, before it leaves: to say why. */
    void (*explain)(void *context, unsigned index, const char *call, int error);
    /* Called in the caller's thread when the work is to end before it is done, for what does not
     * look at is_over; maybe more than once. May be NULL. */
    void (*hurry)(void *context);
    void (*beside)(void *context); /* one more thread, not counted, until is_over; may be NULL */
};

struct crew_result {
    unsigned started; /* threads that could be started */
    int start_error;  /* positive errno if that were not all */
    bool has_run_out; /* most_ns came before the threads were done */
};

/*
 * Runs the job and fills `result` and `figures`: all raw figures (thread_iterations must have room
 * for all threads), and the outcome, which is failed, interrupted or ok. Blocks until all threads
 * are joined. Returns 0 or -ENOMEM; what went wrong in the crew itself stands in `result`.
 */
int crew_run(const struct crew_job *job, struct crew_result *result, struct round_figures *figures);

/* Pins the calling thread to one CPU, and with it what it forks. 0 or a negative errno. */
int crew_pin_self(int cpu);

/*
 * For signal handlers: ends the running crew and all that would follow. Async-signal-safe. Once
 * called, every later crew goes home at once.
 */
void bench_interrupt(int signal_number);

/* The signal that was given to bench_interrupt(), or 0. */
int bench_interrupted(void);

#endif
