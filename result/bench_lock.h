/* The record of `rwsem bench lock` as C has it: filled by bench/, read by report/. */
#ifndef RESULT_BENCH_LOCK_H
#define RESULT_BENCH_LOCK_H

#include "result/hist.h"
#include "result/series.h"
#include <jansson.h>

/* What the threads of one cell do. */
struct lock_case {
    const char *preset;  /* whose row this is; "custom" for one given by options */
    unsigned threads;    /* readers and writers together where roles are dedicated */
    unsigned writers;    /* threads that only write; the others then only read. 0: mixed */
    double write_share;  /* of the operations, where roles are mixed */
    uint64_t inside_ns;  /* CPU time with the lock held, a write or a read alike */
    uint64_t outside_ns; /* CPU time between operations */
};

enum lock_place {
    PLACE_UNKNOWN, /* too few rounds, or not all locks have had theirs */
    PLACE_FIRST,   /* the best median rate of the cell */
    PLACE_LEVEL,   /* no difference seen to it */
    PLACE_BEHIND,
};

struct lock_variant {
    const char *lock;
    struct series series;              /* rounds that read no clock: rates */
    struct series timed;               /* rounds in which every wait was timed */
    struct hist read_wait, write_wait; /* of the timed rounds: from asking to having */
    uint64_t reads, writes;            /* of the untimed rounds */
    double reads_per_second, writes_per_second;
    enum lock_place place;
    const char *beaten_by; /* a lock that is faster and has shorter longest waits; or NULL */
};

struct lock_cell {
    struct lock_case is;
    struct lock_variant *variants; /* lock_count long; owned */
};

struct lock_record {
    const char *const *locks; /* owned */
    unsigned lock_count;
    uint64_t cell_ns, timed_ns; /* a lock's time in one cell: untimed rounds, and timed ones */
    uint64_t patience_ns;       /* a round that ended so much late, or not, hung */
    unsigned rounds, timed_rounds;
    uint64_t seed;
    bool is_pinned;
    unsigned usable_cpus;
    const char *clock;
    double loop_ns; /* the loop's own cost an operation, without any lock */
    unsigned cell_count;
    struct lock_cell *cells; /* owned */
    int interrupted_by;
};

/* Has figures, and is a lock: "none" is the limit, not a competitor. */
bool lock_competes(const struct lock_variant *v);

const char *lock_place_word(enum lock_place place);

/* Adds the record's body to the frame that record_new() made. Returns 0 or -ENOMEM. */
int lock_record_to_json(const struct lock_record *record, json_t *frame);

/* Frees what the record owns; safe on a zeroed one. */
void lock_record_free(struct lock_record *record);

#endif
