/*
 * The record of `rwsem bench mmap` as C has it: filled by bench/, read by report/, turned into JSON
 * here. Raw samples first; what is derived from them stands in `summary`.
 */
#ifndef RESULT_BENCH_MMAP_H
#define RESULT_BENCH_MMAP_H

#include "result/hist.h"
#include "result/series.h"
#include "result/switch_cost.h"
#include <jansson.h>

enum { MMAP_PHASES = 3 };

struct mmap_variant {
    const char *gate;
    const char *classic_gate; /* its name in the mail of 2011 */
    struct series series;
    struct hist phase[MMAP_PHASES], whole; /* all rounds together */
};

struct mmap_cell {
    unsigned threads;
    struct mmap_variant *variants; /* gate_count long; owned */
};

struct mmap_record {
    /* What was asked. */
    const char *const *gates;
    unsigned gate_count;
    const char *workload, *like, *does;
    const char *phases[MMAP_PHASES]; /* NULL where fewer */
    const char *touch;               /* "none", "first", "all" */
    bool is_populated, is_pinned, is_timed;
    uint64_t size, page_size;
    uint64_t cell_ns;    /* is_timed: a gate's time in one cell, over all rounds */
    uint64_t iterations; /* else: exactly this many a thread in each round */
    uint64_t limit_ns;   /* the longest that one round of a gate may take */
    unsigned rounds;
    uint64_t seed;
    unsigned usable_cpus;
    double quota_cpus;          /* 0: none set */
    bool uses_size, uses_touch; /* whether the workload heeds these */
    /* What was seen. */
    const char *clock;
    double overhead_ns;          /* the measuring loop's own cost, an iteration */
    double fastest_iteration_ns; /* mean of the fastest cell; 0 if none ran */
    bool has_switches;
    struct switch_cost switches[SWITCH_KINDS];
    const char *switch_names[SWITCH_KINDS], *switch_abouts[SWITCH_KINDS];
    unsigned cell_count;
    struct mmap_cell *cells; /* owned */
    int interrupted_by;      /* signal number; 0 if the run was complete */
};

/* Adds the record's body to the frame that record_new() made. Returns 0 or -ENOMEM. */
int mmap_record_to_json(const struct mmap_record *record, json_t *frame);

/* Frees what the record owns; safe on a zeroed one. */
void mmap_record_free(struct mmap_record *record);

#endif
