/* glibc's mutex: the normal kind, and the adaptive one that spins a little before it sleeps. */
#include "peers/body.h"
#include "peers/peer.h"
#include <pthread.h>

static int init(void *lock)
{
    return -pthread_mutex_init(lock, NULL);
}

static int init_adaptive(void *lock)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);

    if (error)
        return -error;
    error = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    if (!error)
        error = pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return -error;
}

static void destroy(void *lock)
{
    pthread_mutex_destroy(lock);
}

static void down(void *lock)
{
    pthread_mutex_lock(lock);
}

static void up(void *lock)
{
    pthread_mutex_unlock(lock);
}

PEER_WORK(work, down, up, down, up)

const struct peer peer_mutex = {
    .name = "mutex",
    .summary = "pthread_mutex, the normal kind",
    .size = sizeof(pthread_mutex_t),
    .init = init,
    .destroy = destroy,
    .down_write = down,
    .up_write = up,
    .work = work,
};

const struct peer peer_adaptive = {
    .name = "adaptive",
    .summary = "pthread_mutex that spins a little first (PTHREAD_MUTEX_ADAPTIVE_NP)",
    .size = sizeof(pthread_mutex_t),
    .init = init_adaptive,
    .destroy = destroy,
    .down_write = down,
    .up_write = up,
    .work = work,
};
