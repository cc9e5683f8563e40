/* glibc's reader-writer lock: the default kind, which prefers readers, and the writers' kind. */
#include "peers/body.h"
#include "peers/peer.h"
#include <pthread.h>

static int init_kind(void *lock, int kind)
{
    pthread_rwlockattr_t attributes;
    int error = pthread_rwlockattr_init(&attributes);

    if (error)
        return -error;
    error = pthread_rwlockattr_setkind_np(&attributes, kind);
    if (!error)
        error = pthread_rwlock_init(lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return -error;
}

static int init(void *lock)
{
    return init_kind(lock, PTHREAD_RWLOCK_DEFAULT_NP);
}

static int init_writer(void *lock)
{
    return init_kind(lock, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
}

static void destroy(void *lock)
{
    pthread_rwlock_destroy(lock);
}

static void down_read(void *lock)
{
    pthread_rwlock_rdlock(lock);
}

static void down_write(void *lock)
{
    pthread_rwlock_wrlock(lock);
}

static void up(void *lock)
{
    pthread_rwlock_unlock(lock);
}

PEER_WORK(work, down_read, up, down_write, up)

const struct peer peer_rwlock = {
    .name = "rwlock",
    .summary = "pthread_rwlock, the default kind, which prefers readers",
    .tells_readers = true,
    .size = sizeof(pthread_rwlock_t),
    .init = init,
    .destroy = destroy,
    .down_write = down_write,
    .up_write = up,
    .work = work,
};

const struct peer peer_rwlock_writer = {
    .name = "rwlock-writer",
    .summary = "pthread_rwlock that prefers writers (PREFER_WRITER_NONRECURSIVE_NP)",
    .tells_readers = true,
    .size = sizeof(pthread_rwlock_t),
    .init = init_writer,
    .destroy = destroy,
    .down_write = down_write,
    .up_write = up,
    .work = work,
};
