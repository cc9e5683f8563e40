/* Our own: librwsem's semaphore, its fast paths inline as its users have them. */
#include "rwsem.h"
#include "peers/body.h"
#include "peers/peer.h"

static void down_read(void *lock)
{
    (void)rwsem_down_read(lock); /* a private lock without deadline only fails with 2^31 readers */
}

static void up_read(void *lock)
{
    rwsem_up_read(lock);
}

static void down_write(void *lock)
{
    (void)rwsem_down_write(lock);
}

static void up_write(void *lock)
{
    rwsem_up_write(lock);
}

PEER_WORK(work, down_read, up_read, down_write, up_write)

const struct peer peer_rwsem = {
    .name = "rwsem",
    .summary = "librwsem's reader-writer semaphore",
    .tells_readers = true,
    .size = sizeof(rwsem_t),
    .down_write = down_write,
    .up_write = up_write,
    .work = work,
};
