/*
 * The fast paths, inlined into every caller. Included by rwsem.h; not for use by itself.
 *
 * Each is one compare-and-swap from the value that an uncontended lock has, guessed, not loaded: a
 * load first would fetch the cache line twice when another CPU has it. A wrong guess costs nothing
 * that matters, because the failed CAS has fetched the line and tells the value. Whatever is not
 * exactly the plain case (mode bits, other holders, waiters, debug mode) goes out of line.
 *
 * There is no fetch_add or fetch_sub here, on purpose. A reader that adds first and backs out shows
 * others a count that is not there; a reader that subtracts first and then looks whether someone
 * must be woken touches a lock that may have been freed in between. See lib/word.h.
 */
#ifndef RWSEM_FAST_H
#define RWSEM_FAST_H

#include "rwsem-atomic.h"

/* The part of the state word that inlined code knows, and thereby part of the ABI. */
#define RWSEM__WRITER UINT64_C(1)
#define RWSEM__READER (UINT64_C(1) << 32)

/* The value that a free lock is guessed to have: 0, or in a process that watches all its locks
 * (debug mode, statistics) one that no lock has. Written once, by the library's constructor. */
extern uint64_t rwsem__idle_guess;

/* RWSEM__WRITER and this thread's TID in the upper half; 0: not asked for yet. Written only by its
 * own thread; a forked child's is renewed before fork() returns there. */
extern __thread uint64_t rwsem__self_hold __attribute__((tls_model("initial-exec")));

int rwsem__down_read_slow(rwsem_t *sem);
int rwsem__down_write_slow(rwsem_t *sem);
void rwsem__up_read_slow(rwsem_t *sem);
void rwsem__up_write_slow(rwsem_t *sem);

/* Inlined, and never emitted: where a call is not inlined it goes to the library's symbol, which
 * lib/symbols.c makes from this same text. */
#ifndef RWSEM__FAST
#define RWSEM__FAST extern inline __attribute__((gnu_inline))
#endif

RWSEM__FAST int rwsem_down_read(rwsem_t *sem)
{
    uint64_t word = rwsem__idle_guess;

    /* acquire: pairs with the release by which the last writer let go */
    if (__builtin_expect(RWSEM__CAS(&sem->word, &word, word + RWSEM__READER, RWSEM__ACQUIRE), 1))
        return 0;
    return rwsem__down_read_slow(sem);
}

RWSEM__FAST void rwsem_up_read(rwsem_t *sem)
{
    uint64_t idle = rwsem__idle_guess;
    uint64_t word = idle + RWSEM__READER;

    /* release: what was read stays before the next writer's acquire */
    if (__builtin_expect(!RWSEM__CAS(&sem->word, &word, idle, RWSEM__RELEASE), 0))
        rwsem__up_read_slow(sem);
}

RWSEM__FAST int rwsem_down_write(rwsem_t *sem)
{
    uint64_t hold = RWSEM__SELF;
    uint64_t word = rwsem__idle_guess;

    /* acquire: pairs with the release of every reader and writer before */
    if (__builtin_expect(hold != 0, 1) &&
        __builtin_expect(RWSEM__CAS(&sem->word, &word, word + hold, RWSEM__ACQUIRE), 1))
        return 0;
    return rwsem__down_write_slow(sem);
}

RWSEM__FAST void rwsem_up_write(rwsem_t *sem)
{
    uint64_t idle = rwsem__idle_guess;
    uint64_t word = idle + RWSEM__SELF;

    /* release: pairs with the acquire of whoever takes the lock next */
    if (__builtin_expect(!RWSEM__CAS(&sem->word, &word, idle, RWSEM__RELEASE), 0))
        rwsem__up_write_slow(sem);
}

#endif
