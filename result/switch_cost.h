/* What changing between threads or processes cost, one kind of change; see bench/switch.h. */
#ifndef RESULT_SWITCH_COST_H
#define RESULT_SWITCH_COST_H

#include <stdbool.h>
#include <stdint.h>

enum { SWITCH_ROUNDS_MAX = 64 };

enum switch_kind {
    SWITCH_YIELD,         /* sched_yield between two threads on one CPU */
    SWITCH_FUTEX_ONE_CPU, /* futex ping-pong between two threads, both on one CPU */
    SWITCH_FUTEX_TWO_CPUS,
    SWITCH_PIPE_ONE_CPU, /* one byte to and fro through two pipes between two processes */
    SWITCH_PIPE_TWO_CPUS,
    SWITCH_KINDS,
};

struct switch_cost {
    bool was_measured;
    char why_not[128];                      /* where it was not: "only one CPU may be used" */
    unsigned rounds;                        /* samples that follow */
    uint64_t steps;                         /* one-way changes asked for in each round */
    uint64_t elapsed_ns[SWITCH_ROUNDS_MAX]; /* raw: what `steps` took in each round */
    uint64_t switches; /* context switches that the kernel counted, all rounds together */
    double step_ns;    /* median over rounds of elapsed / steps */
};

#endif
