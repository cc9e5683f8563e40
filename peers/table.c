/* The table of peers, and the making of one lock. Whoever adds a peer adds a line here. */
#include "peers/config.h"
#include "peers/peer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 128 }; /* two cache lines: some processors fetch them in pairs */

extern const struct peer peer_none, peer_rwsem, peer_spin, peer_mutex, peer_adaptive, peer_rwlock,
    peer_rwlock_writer, peer_linux_2011, peer_linux_2011_mutex, peer_linux_2013, peer_linux_2014,
    peer_linux_2019;

/* clang-format off: the lists of config.h. PEERS_HERE is what the build found besides, a list of
 * HERE(NAME); PEERS_AWAY one of AWAY("NAME", "why"). */
#define HERE(name) extern const struct peer peer_##name;
PEERS_HERE
#undef HERE

#define HERE(name) &peer_##name,
const struct peer *const peer_table[] = {
    &peer_none,
    &peer_rwsem,
    &peer_spin,
    &peer_mutex,
    &peer_adaptive,
    &peer_rwlock,
    &peer_rwlock_writer,
    PEERS_HERE &peer_linux_2011,
    &peer_linux_2011_mutex,
    &peer_linux_2013,
    &peer_linux_2014,
    &peer_linux_2019,
    NULL,
};
#undef HERE

#define AWAY(name, why) {name, why},
const struct peer_away peers_away[] = {PEERS_AWAY{NULL, NULL}};
/* clang-format on */

const struct peer *peer_find(const char *name)
{
    for (const struct peer *const *p = peer_table; *p; p++)
        if (!strcmp((*p)->name, name))
            return *p;
    return NULL;
}

void *peer_make(const struct peer *peer, int *error)
{
    size_t bytes = (peer->size + LINES - 1) / LINES * LINES;

    *error = 0;
    if (!peer->size)
        return NULL;
    void *lock = aligned_alloc(LINES, bytes);
    if (!lock) {
        *error = -ENOMEM;
        return NULL;
    }
    memset(lock, 0, bytes);
    *error = peer->init ? peer->init(lock) : 0;
    if (*error) {
        free(lock);
        return NULL;
    }
    return lock;
}

void peer_free(const struct peer *peer, void *lock)
{
    if (lock && peer->destroy)
        peer->destroy(lock);
    free(lock);
}
