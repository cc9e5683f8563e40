/* The lock of linux_2011.c, for linux_2011_mutex.c, which wraps it. */
#ifndef PEERS_HISTORY_LINUX_2011_H
#define PEERS_HISTORY_LINUX_2011_H

#include "peers/history/common.h"

static inline void linux_2011_down_write(struct history_lock *lock)
{
    if (!history_try_write(lock, HISTORY_QUEUED))
        history_wait_granted_write(lock, &linux_2011);
}

#endif
