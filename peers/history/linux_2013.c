/*
 * The rw_semaphore of Linux 3.9 and 3.10 (2013), by Alex Shi and Michel Lespinasse: writers steal.
 * A newcomer takes a lock that is free though others queue, and a writer that is woken is not the
 * holder yet: it stays in the queue and competes. So the lock need not lie idle while a sleeper
 * wakes up. Readers are still made holders by the releaser, up to the next writer, and still queue
 * behind whoever queues.
 *
 * Published: aim7's fork_test, whose throughput had halved when a mutex became an rwsem, fully
 * recovered (commit ce6711f3d196); pgbench +19.0 % with one client, +16.3 % with 20 (merge
 * c8de2fa4dc27).
 *
 * Left out: the fast path's unconditional addition, after which the kernel's writer steals from its
 * slow path; here the one compare-and-swap does both. That steals a little more readily.
 */
#include "peers/history/common.h"

const struct history_rules linux_2013 = {0};

static void down_write(void *lock)
{
    if (!history_try_write(lock, 0))
        history_compete(lock, &linux_2013);
}

HISTORY_PEER(2013, &linux_2013, struct history_lock, .name = "linux-2013",
             .summary = "the kernel's rwsem of 2013: writers steal past the queue")
