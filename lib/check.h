/*
 * Looking at locks: invariants and the dump (check.c), statistics and debug mode of watched locks
 * (watch.c). Nothing here is called for a lock that nobody watches.
 */
#ifndef LIB_CHECK_H
#define LIB_CHECK_H

#include "slow.h"

/* Are all private locks watched (RWSEM_DEBUG or RWSEM_STATS in the environment)? Set once, before
 * main(). */
extern bool rwsem__watches_all;

/* Are they, or is this lock? */
static inline bool rwsem__is_watched(const rwsem_t *sem)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED); /* relaxed: a mode never changes */

    if (__builtin_expect(rwsem__watches_all, 0))
        return !(word & WORD_SHARED);
    return __builtin_expect(word & WORD_WATCHED, 0);
}

/* rwsem.c: the plain operations, for watch.c to wrap. */
int rwsem__take(rwsem_t *sem, enum rwsem__mode mode, const struct rwsem__limits *limits);
void rwsem__release(rwsem_t *sem, uint64_t give, uint64_t keep);

/* Reads the environment; true: every lock of the process is to be watched. */
bool rwsem__start_watching(void);

int rwsem__watched_take(rwsem_t *sem, enum rwsem__mode mode, const struct rwsem__limits *limits);
/* Before a release, and before or after a change of mode to `mode`. False: a misuse, reported; the
 * lock must be left alone. */
bool rwsem__watched_release(rwsem_t *sem, enum rwsem__mode mode);
bool rwsem__watched_change(rwsem_t *sem, enum rwsem__mode mode);
void rwsem__report_destroy(rwsem_t *sem);
void rwsem__forget(rwsem_t *sem);

/* Which invariant of word.h `word` breaks, or NULL. */
const char *rwsem__broken_invariant(uint64_t word);

#endif
