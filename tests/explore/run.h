/* One run of the controlled scheduler: what explore.c and os.c share. */
#ifndef EXPLORE_RUN_H
#define EXPLORE_RUN_H

#include "explore.h"
#include <setjmp.h>
#include <ucontext.h>

enum {
    STACK = 64 << 10,
    MAX_DEPTH = 4096, /* choices of one run */
    MAX_STEPS = 4000, /* accesses of one run; more: it does not end */
    MAX_OPTIONS = 3 * EXPLORE_THREADS,
    MAX_STRAY = 64,
    LATE_SLEEPS = 4,                   /* its own mark, a lost try, and one for being taken out */
    LATE_PASSES = 8 + EXPLORE_THREADS, /* those that pass look at the clock every eighth time */
    CLOCK_STEP_NS = 500,
    LATE_NS = 3000, /* longer than any spin */
};

enum status { READY, PAUSED, ASLEEP, DONE };

struct coroutine {
    enum status status;
    bool is_started, is_waiting, is_interruptible, was_signalled;
    bool is_late; /* has spun so long that it will see so at its next look at the clock */
    jmp_buf env;
    ucontext_t context;
    uint32_t *futex;
    uint32_t bits;
    uint64_t until_ns, asked_ns, slept_at;
    unsigned late_sleeps, late_passes;
    bool has_slept, is_writer; /* in this wait */
    int wake_result;
    uint64_t self;
};

enum kind { RUN, TIME_OUT, SIGNAL };

struct option {
    uint8_t thread, kind, cost;
};

struct choice {
    struct option options[MAX_OPTIONS];
    uint8_t count, chosen;
    unsigned cost_before;
};

struct explore_run {
    const struct explore_program *program;
    struct coroutine threads[EXPLORE_THREADS];
    unsigned current;
    struct choice path[MAX_DEPTH];
    unsigned depth, prefix, bound, cost;
    uint64_t clock_ns, steps, sleeps;
    jmp_buf main_env;
    const char *failure;
    bool is_active, is_told;
    char *lock;
    size_t lock_size;
    bool is_freed;
    struct {
        void *address;
        size_t size;
    } stray[MAX_STRAY];
    unsigned strays;
};

extern struct explore_run run;
extern char explore_stacks[EXPLORE_THREADS][STACK];

static inline struct coroutine *self(void)
{
    return &run.threads[run.current];
}

/* Lets the scheduler choose who goes on; returns when it is this thread again. */
void explore_block(void);

#endif
