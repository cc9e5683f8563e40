/* nsync's reader-writer lock, of Mike Burrows: a word, a queue of waiters, and a bound on passing.
 */
#include "peers/body.h"
#include "peers/peer.h"
#include <nsync.h>

static void down_read(void *lock)
{
    nsync_mu_rlock(lock);
}

static void up_read(void *lock)
{
    nsync_mu_runlock(lock);
}

static void down_write(void *lock)
{
    nsync_mu_lock(lock);
}

static void up_write(void *lock)
{
    nsync_mu_unlock(lock);
}

PEER_WORK(work, down_read, up_read, down_write, up_write)

const struct peer peer_nsync = {
    .name = "nsync",
    .summary = "nsync_mu of Google's nsync",
    .tells_readers = true,
    .size = sizeof(nsync_mu),
    .down_write = down_write,
    .up_write = up_write,
    .work = work,
};
