/*
 * The rw_semaphore of 2011 with the patch of the mail of 15 May 2011, its author's test of where
 * the time goes: down_write takes a mutex first and gives it back when it has the lock. So one
 * writer at most stands in the queue, and the others wait for a mutex, which they may take past one
 * another.
 *
 * Published: the mail's "Mmap [nolock]" on a kernel so patched, 100.0 us an iteration instead of
 * 2164.7 us (LKML, 15 May 2011).
 *
 * Left out: the kernel's mutex spun while its owner ran. glibc's does not spin: between a futex's
 * word and its system call there is not much time for a thief, but there is some. And the patch had
 * one mutex for all semaphores of the system; here each lock has its own, as the mail says it
 * should be.
 */
#include "peers/history/linux_2011.h"
#include <pthread.h>

struct lock {
    struct history_lock rwsem; /* first: tests look at it as they do at the others' */
    pthread_mutex_t mutex;
};

static int init(void *lock)
{
    return -pthread_mutex_init(&((struct lock *)lock)->mutex, NULL);
}

static void destroy(void *lock)
{
    pthread_mutex_destroy(&((struct lock *)lock)->mutex);
}

static void down_write(void *lock)
{
    struct lock *l = lock;

    pthread_mutex_lock(&l->mutex);
    linux_2011_down_write(&l->rwsem);
    pthread_mutex_unlock(&l->mutex);
}

HISTORY_PEER(2011_mutex, &linux_2011, struct lock, .name = "linux-2011-mutex",
             .summary = "the same with a mutex round down_write, as the mail of 2011 patched it",
             .init = init, .destroy = destroy)
