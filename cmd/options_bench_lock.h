/* Keys of the options of `rwsem bench lock` that have no letter. */
#ifndef CMD_OPTIONS_BENCH_LOCK_H
#define CMD_OPTIONS_BENCH_LOCK_H

enum {
    LOCK_OPT_WRITES = 256,
    LOCK_OPT_WRITERS,
    LOCK_OPT_INSIDE,
    LOCK_OPT_OUTSIDE,
    LOCK_OPT_PIN,
    LOCK_OPT_PATIENCE,
    LOCK_OPT_SEED,
    LOCK_OPT_JSON,
    LOCK_OPT_CSV,
};

#endif
