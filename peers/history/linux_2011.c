/*
 * The rw_semaphore of Linux 2.6.3x, as the mail of 15 May 2011 measured it, in essence David
 * Howells's of 2001. Strictly first come, first served: a releaser makes the head of the queue the
 * holder, a writer or all readers up to the next writer, before these have woken up. A newcomer
 * queues whenever somebody queues. Nobody spins. So once there is a queue, the lock is passed on
 * only as fast as threads wake up, and the queue does not end.
 *
 * Published: the mail's "Mmap [nolock]", 2164.7 us an iteration, against 72.0 us where a mutex in
 * user space kept the threads apart before they came to the kernel's lock ("rw_semaphore down_write
 * a lot faster if wrapped by mutex ?!", LKML, 15 May 2011). That was mmap, munmap and page faults
 * on the mail's machine, and says nothing of an absolute time here.
 *
 * Left out: the fast path's unconditional addition with an undo on failure (a compare-and-swap
 * here, which may have to be repeated), the trying, downgrading and interruptible forms, and what
 * stands in for a kernel's spinlock (common.h).
 */
#include "peers/history/linux_2011.h"

const struct history_rules linux_2011 = {.grants_writers = true};

static void down_write(void *lock)
{
    linux_2011_down_write(lock);
}

HISTORY_PEER(2011, &linux_2011, struct history_lock, .name = "linux-2011",
             .summary = "the kernel's rwsem of 2011: strict order, ownership passed to sleepers")
