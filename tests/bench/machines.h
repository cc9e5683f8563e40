/*
 * Machines that do not exist: generators of paired rounds with known truth, for trying statistics
 * thousands of times. The same seed gives the same rounds everywhere.
 */
#ifndef TESTS_BENCH_MACHINES_H
#define TESTS_BENCH_MACHINES_H

#include <stddef.h>
#include <stdint.h>

struct machine {
    const char *name;
    double noise;        /* standard deviation of the log of a round's rate */
    double drift;        /* the same of the step from round to round that both variants share */
    double wild_share;   /* of rounds that something disturbs ... */
    double wild_slow_up; /* ... which then take up to this many times as long */
};

/* Quiet, drifting, heavy-tailed, and far noisier than a verdict's least effect. */
extern const struct machine machines[];
extern const size_t machine_count;

/* Rates of n rounds of two variants, of which `a` has `ratio` times the rate of `b`. */
void machine_run(const struct machine *m, uint64_t *random, double ratio, double *a, double *b,
                 size_t n);

#endif
