/* Keys of the options of `rwsem bench mmap` that have no letter. */
#ifndef CMD_OPTIONS_BENCH_MMAP_H
#define CMD_OPTIONS_BENCH_MMAP_H

enum {
    OPT_TOUCH = 256,
    OPT_POPULATE,
    OPT_LIMIT,
    OPT_PIN,
    OPT_SEED,
    OPT_NO_SWITCHES,
    OPT_CLASSIC,
    OPT_JSON,
    OPT_CSV,
};

#endif
