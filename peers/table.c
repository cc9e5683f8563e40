/* The table of peers: whoever adds one adds a line here. */
#include "peers/peer.h"
#include <string.h>

extern const struct peer peer_none, peer_rwsem, peer_spin, peer_mutex, peer_adaptive, peer_rwlock,
    peer_rwlock_writer;

const struct peer *const peer_table[] = {
    &peer_none,     &peer_rwsem,  &peer_spin,          &peer_mutex,
    &peer_adaptive, &peer_rwlock, &peer_rwlock_writer, NULL,
};

const struct peer *peer_find(const char *name)
{
    for (const struct peer *const *p = peer_table; *p; p++)
        if (!strcmp((*p)->name, name))
            return *p;
    return NULL;
}
