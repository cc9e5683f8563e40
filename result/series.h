/*
 * A series: one variant (a gate, a lock, a command) measured in rounds, with the raw figures of
 * each round and what was derived from them. Every measuring command records its variants so.
 */
#ifndef RESULT_SERIES_H
#define RESULT_SERIES_H

#include "result/ratio.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum outcome {
    OUTCOME_NOT_RUN,
    OUTCOME_OK,
    OUTCOME_COLLAPSED,   /* under a fifth of the baseline's rate in the same cell */
    OUTCOME_CUT_OFF,     /* reached the time limit of a round before its iterations were done */
    OUTCOME_INTERRUPTED, /* a signal ended the run */
    OUTCOME_FAILED,      /* a call failed; the note says which */
    OUTCOME_HUNG,        /* threads did not end, and were killed */
};

/* One variant in one round. */
struct round_figures {
    unsigned round;
    unsigned order; /* its place in this round's shuffled order, from 0 */
    enum outcome outcome;
    uint64_t elapsed_ns; /* start signal to the last thread's end */
    uint64_t iterations; /* of all threads */
    uint64_t cpu_ns;     /* user and system time of the measured threads */
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t minor_faults, major_faults;
    uint64_t *thread_iterations; /* one a thread; owned by the series */
};

/* Figures that could not be computed are NAN here and null in JSON. */
struct series_summary {
    double rate_per_second; /* median over rounds */
    double iteration_ns;    /* the mail's latency: wall time by iterations of each thread */
    double cpu_ns;          /* CPU time an iteration */
    double switches;        /* context switches an iteration, both kinds */
    double faults;          /* page faults an iteration, both kinds */
    double slowest_share;   /* slowest thread's iterations by a fair share, median over rounds */
    bool is_baseline;
    struct stats_ratio ratio; /* of rates, to the baseline */
    enum stats_verdict verdict;
};

struct series {
    enum outcome status;
    char note[256]; /* why it failed, or what was seen when it collapsed; else empty */
    unsigned threads;
    unsigned rounds_most; /* rounds that there is room for */
    unsigned rounds_run;
    struct round_figures *rounds;
    struct series_summary summary;
};

const char *outcome_word(enum outcome outcome);

/* The verdict on a series, or what happened to it where there is none to give. */
const char *series_verdict_word(const struct series *s);

/* Makes room for `rounds` rounds. 0 or -ENOMEM; series_free() either way. */
int series_init(struct series *s, unsigned threads, unsigned rounds);
void series_free(struct series *s);

/* Raw rounds, and the summary, as docs/record.schema.json has them. */
json_t *series_rounds_to_json(const struct series *s);
json_t *series_summary_to_json(const struct series *s);

/* JSON has no 64-bit unsigned integers and no NAN: NAN becomes null. */
json_t *json_from_count(uint64_t n);
json_t *json_from_real(double x);
json_t *json_from_counts(const uint64_t *list, unsigned n);
json_t *json_from_strings(const char *const *list, unsigned n); /* up to the first NULL */

#endif
