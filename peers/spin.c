/*
 * The naive test-and-set spinlock, as a benchmark of 2011 may have had it. Kept as it is, without
 * back-off or PAUSE and never giving up the CPU, because it shows the cliff: as soon as threads
 * outnumber CPUs, waiters burn the time slices that the holder would need. It is unfair, but nobody
 * waits for ever: holders always release.
 */
#include "peers/body.h"
#include "peers/peer.h"
#include <stdatomic.h>

static void down(void *lock)
{
    /* Acquire: pairs with the release in up(). */
    while (atomic_flag_test_and_set_explicit((atomic_flag *)lock, memory_order_acquire))
        ;
}

static void up(void *lock)
{
    /* Release: pairs with the acquire in down(). */
    atomic_flag_clear_explicit((atomic_flag *)lock, memory_order_release);
}

PEER_WORK(work, down, up, down, up)

const struct peer peer_spin = {
    .name = "spin",
    .classic_name = "spinlock",
    .summary = "naive test-and-set spinlock, kept because it shows the cliff",
    .only_spins = true,
    .size = sizeof(atomic_flag),
    .down_write = down,
    .up_write = up,
    .work = work,
};
