/*
 * The rw_semaphore of Linux 3.16 (2014), by Tim Chen and Davidlohr Bueso: a writer that finds the
 * lock held by a writer spins while that one runs, in a line of which only the first competes, and
 * queues only when that came to nothing. Otherwise as in 2013.
 *
 * Published: aim7's alltests +20 % on 80 cores (commit 4fc828e24cd9).
 *
 * Left out: whether the owner runs, and whether somebody else wants the spinner's CPU. spin.h says
 * what stands in for them, and for the line. Nobody spins while readers hold the lock.
 */
#include "peers/history/spin.h"

const struct history_rules linux_2014 = {0};

static void down_write(void *lock)
{
    struct history_spun *spun = lock;

    if (!history_try_write(&spun->lock, 0) && !history_spin_write(spun, false))
        history_compete(&spun->lock, &linux_2014);
    history_count_turn(spun);
}

HISTORY_PEER(2014, &linux_2014, struct history_spun, .name = "linux-2014",
             .summary = "the kernel's rwsem of 2014: writers spin, then steal")
