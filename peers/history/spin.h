/*
 * Optimistic spinning of writers, of 2014 and 2019: before it queues, a writer spins while the lock
 * seems about to come free. Spinners stand in a line of their own, of which only the first competes
 * for the word.
 *
 * The kernel spins while the owner runs on a CPU and nothing else wants the spinner's. A program
 * sees neither. In their place:
 *
 * - Every writer counts up `turn` when it has the lock. A spinner that has seen the same owner for
 *   SPIN_OWNER_NS takes it that the owner has lost its CPU or sleeps, and leaves.
 * - Nobody spins longer than SPIN_MOST_NS in all.
 *
 * The kernel's line is an MCS queue from which spinners unlink themselves without a lock. Here it
 * is a list under a mutex that is held for a few instructions, twice a spin, which costs more. Like
 * the kernel's, a spinner waits on its own cache line for being first; unlike there it reads the
 * lock's lines too, to see the owner stop. For a first spinner may lose its CPU, and nobody must
 * hang behind it: each leaves by its own clock.
 */
#ifndef PEERS_HISTORY_SPIN_H
#define PEERS_HISTORY_SPIN_H

#include "peers/history/common.h"

enum {
    SPIN_OWNER_NS = 20000,  /* more than a hold worth spinning for, far less than a time slice */
    SPIN_MOST_NS = 1000000, /* the order of a time slice's rest */
};

/* On the spinner's stack; guarded by the line's mutex, but for is_first. */
struct history_spinner {
    struct history_spinner *next, *previous;
    _Atomic bool is_first __attribute__((aligned(64)));
};

/* A lock that is spun for; zeroed memory is an unlocked one. */
struct history_spun {
    struct history_lock lock;
    struct history_mutex mutex; /* guards `first` and `last` */
    _Atomic uint32_t turn;      /* written by the writer that holds the lock */
    struct history_spinner *first, *last;
};

/* Stands in line, or leaves it, from wherever in it. */
void history_line_up(struct history_spun *spun, struct history_spinner *spinner);
void history_leave_line(struct history_spun *spun, struct history_spinner *spinner);

/*
 * Spins for the lock as a writer, past the queue but never past a hand-off. Returns whether it has
 * it; if not, the caller has to queue. While readers hold it spins only if spins_on_readers, and
 * then 10 us and half a microsecond a reader, 25 us at most.
 */
bool history_spin_write(struct history_spun *spun, bool spins_on_readers);

/* By a writer that has the lock. relaxed: a hint for spinners, written by one thread at a time. */
static inline void history_count_turn(struct history_spun *spun)
{
    uint32_t turn = atomic_load_explicit(&spun->turn, memory_order_relaxed);
    atomic_store_explicit(&spun->turn, turn + 1, memory_order_relaxed);
}

#endif
