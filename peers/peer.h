/*
 * The locks that things are compared with: one small adapter a lock, one table. A peer serves as a
 * gate (its write side) and, through its own copy of the measured loop, in `rwsem bench lock`.
 */
#ifndef PEERS_PEER_H
#define PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct peer_work; /* peers/body.h */

struct peer {
    const char *name;         /* what --gate and --lock take */
    const char *classic_name; /* what the mail of 2011 called it; NULL: as `name` */
    const char *summary;      /* one line for lists */
    bool tells_readers;       /* false: readers exclude one another too */
    bool only_spins;          /* never sleeps: not for more threads than CPUs */
    bool is_history;          /* an old lock rebuilt; compared only where it is asked for */
    size_t size;              /* bytes of one lock; 0: there is no lock at all */
    int (*init)(void *lock);  /* 0 or a negative errno; NULL where zeroed memory will do */
    void (*destroy)(void *lock);
    void (*down_write)(void *lock); /* NULL only where size is 0 */
    void (*up_write)(void *lock);
    void (*work)(struct peer_work *work); /* the measured loop over this lock */
};

/*
 * A lock of that peer, initialised, on cache lines of its own; NULL, with *error 0, for a peer that
 * is no lock at all, and NULL with *error a negative errno when it can't be had.
 */
void *peer_make(const struct peer *peer, int *error);

/* Ends its use and frees it; NULL is nothing to do. */
void peer_free(const struct peer *peer, void *lock);

/* Every peer of this build, in the order in which lists show them; ends with NULL. */
extern const struct peer *const peer_table[];

/* The peer of that name, or NULL. */
const struct peer *peer_find(const char *name);

/* The peers that this build lacks, and why; ends with a NULL name. */
struct peer_away {
    const char *name, *why;
};
extern const struct peer_away peers_away[];

#endif
