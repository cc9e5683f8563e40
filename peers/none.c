/* No lock at all: the baseline of gates, and the limit of what readers alone could do. */
#include "peers/body.h"
#include "peers/peer.h"

static void nothing(void *lock)
{
    (void)lock;
}

PEER_WORK(work, nothing, nothing, nothing, nothing)

const struct peer peer_none = {
    .name = "none",
    .classic_name = "nolock",
    .summary = "no lock: what the kernel does by itself; as a lock, the limit for readers alone",
    .tells_readers = true,
    .work = work,
};
