/* One lock in one round of `rwsem bench lock`. */
#ifndef BENCH_LOCK_ROUND_H
#define BENCH_LOCK_ROUND_H

#include "peers/peer.h"
#include "result/bench_lock.h"
#include "result/cpus.h"

struct lock_request {
    const struct peer *lock;
    const struct lock_case *is;
    const struct cpus *pin_to; /* NULL: threads are not pinned */
    uint64_t round_ns;
    bool is_timed; /* time every wait, into the variant's histograms */
    double turns_per_ns;
    uint64_t random; /* seed of the threads' choices */
};

/*
 * Runs it, fills `round`, adds to the variant's counts or histograms, and checks that the lock did
 * what locks do: a lost update or a read of a half-done write fails the round, with a note in the
 * variant. Returns 0 or a negative errno when our own preparations failed.
 */
int lock_round_run(const struct lock_request *request, struct round_figures *round,
                   struct lock_variant *variant);

/* Turns of peer_delay() in a nanosecond, measured in about 10 ms. */
double lock_round_calibrate(void);

#endif
