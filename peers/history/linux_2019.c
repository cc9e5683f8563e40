/*
 * The rw_semaphore of Linux 5.3 (2019), by Waiman Long: one count word that says who may come in,
 * an owner beside it, and an end to stealing. The head of the queue, once it has waited for more
 * than 4 ms and again found the lock held, asks for the hand-off; from then on nobody passes it.
 * Writers spin on readers too, 10 to 25 us, more the more readers there are. A releaser that finds
 * a reader at the head wakes all readers of the queue, also those behind writers.
 *
 * Published, of a microbenchmark on a large machine: 240 writers, least/mean/most operations of a
 * thread 1/7,792/173,696 before, 5,842/6,542/7,458 with the hand-off (commit 4f23dbc1e657); 40
 * readers beside 40 writers, readers 1,808 to 31,359, writers 50,344 to 95,845. A hand-off at the
 * first wake-up was rejected: readers 1,794 to 44 (LKML 20190520205918.22251-1).
 *
 * Left out: the limit of 256 readers woken at once; readers that spin, which came and went (commit
 * 617f3ef95177); a head that spins when the hand-off is its own; marking an owner not worth
 * spinning for; and what spin.h says. The owner is the number of the last writer's turn.
 */
#include "peers/history/spin.h"

const struct history_rules linux_2019 = {.wakes_all_readers = true, .hand_off_ns = 4000000};

/* The fast path does not steal; spinners do. */
static void down_write(void *lock)
{
    struct history_spun *spun = lock;

    if (!history_try_write(&spun->lock, HISTORY_QUEUED) && !history_spin_write(spun, true))
        history_compete(&spun->lock, &linux_2019);
    history_count_turn(spun);
}

HISTORY_PEER(2019, &linux_2019, struct history_spun, .name = "linux-2019",
             .summary = "the kernel's rwsem of 2019: stealing ends with a hand-off after 4 ms")
