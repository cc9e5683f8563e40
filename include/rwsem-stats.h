/*
 * Statistics and names of watched locks (RWSEM_WATCHED, or RWSEM_STATS=1 or RWSEM_DEBUG=1 in the
 * environment, which watch every private lock of the process).
 */
#ifndef RWSEM_STATS_H
#define RWSEM_STATS_H

#include "rwsem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The counters, one list: X(name, what it counts). */
#define RWSEM_COUNTERS(X)                                                                          \
    X(reads, "times taken for reading")                                                            \
    X(writes, "times taken for writing")                                                           \
    X(refused, "tries, time-outs and interruptions that did not get it")                           \
    X(waits, "requests that could not be served at once")                                          \
    X(sleeps, "sleeps in the queue")                                                               \
    X(futile_wakes, "wake-ups after which the waiter had to sleep again")                          \
    X(spins_won, "spins that got the lock")                                                        \
    X(spins_lost, "spins that did not")                                                            \
    X(handoffs, "takings while the lock was reserved for the taker")                               \
    X(wait_ns, "time spent waiting, all threads")                                                  \
    X(wait_max_ns, "longest wait")                                                                 \
    X(hold_ns, "time held, all holders")                                                           \
    X(hold_max_ns, "longest hold")

enum { RWSEM_BUCKETS = 64 };

struct rwsem_stats {
#define X(name, what) uint64_t name;
    RWSEM_COUNTERS(X)
#undef X
    /* how many waits and holds took 2^(i-1) to 2^i-1 ns; [0]: 0 ns */
    uint64_t waits_by_log2_ns[RWSEM_BUCKETS];
    uint64_t holds_by_log2_ns[RWSEM_BUCKETS];
};

/* What has been counted for a watched lock since its first use. Returns -ENOENT for one that is not
 * watched or was never used. */
int rwsem_get_stats(const rwsem_t *sem, struct rwsem_stats *stats);

/* Gives a watched lock a name for reports; the string must live as long as the lock. Returns
 * -ENOMEM, or -ENOENT when the lock is not watched. */
int rwsem_set_name(rwsem_t *sem, const char *name);

#ifdef __cplusplus
}
#endif

#endif
