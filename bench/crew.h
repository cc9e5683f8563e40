/*
 * A crew: threads that start together, work until they are done or told to stop, and are joined.
 * What they do is the caller's. One crew runs at a time.
 */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

#include "result/cpus.h"
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
    uint64_t elapsed_ns; /* start signal to the last thread's end */
    uint64_t iterations;
    uint64_t cpu_ns;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t minor_faults, major_faults;
    unsigned started;    /* threads that could be started */
    int start_error;     /* positive errno if that were not all */
    bool has_failed;     /* a thread's enter or work returned an error */
    bool has_run_out;    /* most_ns came before the threads were done */
    bool is_interrupted; /* bench_interrupt() was called */
};

/*
 * Runs the job and fills `result`, and `thread_iterations` (one a thread). Blocks until all threads
 * are joined. Returns 0 or -ENOMEM; what went wrong in the crew itself stands in `result`.
 */
int crew_run(const struct crew_job *job, struct crew_result *result, uint64_t *thread_iterations);

/*
 * For signal handlers: ends the running crew and all that would follow. Async-signal-safe. Once
 * called, every later crew goes home at once.
 */
void bench_interrupt(int signal_number);

/* The signal that was given to bench_interrupt(), or 0. */
int bench_interrupted(void);

#endif
