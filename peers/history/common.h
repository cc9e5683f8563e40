/*
 * What the kernel's rw_semaphores of several years share here: the word, a small mutex, the queue
 * of sleepers, and the three ways in which a releaser and a waiting writer may behave
 * (struct history_rules). linux_*.c say what a year did with them; spin.h adds the spinning.
 *
 * Written from descriptions of the algorithms, not from the kernel's code. These locks are for
 * benches. A lock must not be freed before every call on it has returned: a releaser still comes to
 * the queue after its word has let others in. (Our own semaphore allows that; these do not.)
 *
 * Where a call may be preempted at any instruction, as here, and where it may not, as under a
 * spinlock of the kernel, the same algorithm behaves differently. Two things stand in for that:
 *
 * - The queue's spinlock is a mutex that spins briefly and then sleeps. A plain spinlock whose
 *   holder loses its CPU would be a cliff of its own, and hide the one that is to be seen.
 * - Wake-ups are system calls and come after the mutex is let go. In the kernel they came under
 *   the spinlock, where nobody could lose the CPU to the thread just woken.
 */
#ifndef PEERS_HISTORY_COMMON_H
#define PEERS_HISTORY_COMMON_H

#include "peers/body.h"
#include "peers/peer.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The word. READER is one reader; the readers' count lies from there upwards. QUEUED: the queue is
 * not empty. It changes under the mutex only, and is set only by a compare-and-swap that sees a
 * holder. So whoever makes the word free of holders sees QUEUED, and comes to wake the queue.
 * HAND_OFF (2019): only the head of the queue may take the lock; changes under the mutex only.
 */
enum {
    HISTORY_WRITER = 1,
    HISTORY_QUEUED = 2,
    HISTORY_HAND_OFF = 4,
    HISTORY_READER = 256,
};

#define HISTORY_HELD (~(uint64_t)(HISTORY_READER - 1) | HISTORY_WRITER)

static inline uint64_t history_readers(uint64_t word)
{
    return word / HISTORY_READER;
}

/* 0 free, 1 held, 2 held and perhaps somebody sleeps. */
struct history_mutex {
    _Atomic uint32_t state;
};

void history_mutex_lock(struct history_mutex *mutex);
void history_mutex_unlock(struct history_mutex *mutex);

static inline void history_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/*
 * A sleeper, on its own stack. All but `state` is guarded by the queue's mutex, or is the waker's
 * alone once it has taken the node from the queue. `state` is 0 while there is reason to sleep.
 */
struct history_node {
    struct history_node *next, *previous;
    uint64_t since_ns; /* when it came; 0 where no rule asks */
    _Atomic uint32_t state;
    bool writes;
};

/* Zeroed memory is an unlocked lock. The mutex guards `head`, `tail` and `count`. */
struct history_lock {
    _Atomic uint64_t word;
    struct history_mutex mutex;
    uint32_t count; /* of nodes */
    struct history_node *head, *tail;
};

struct history_rules {
    bool grants_writers;    /* a releaser makes the head writer the holder; else it only wakes it */
    bool wakes_all_readers; /* also those behind writers; else only up to the next writer */
    uint64_t hand_off_ns;   /* a head that lost after waiting that long stops stealing; 0: never */
};

/* Those of the years, from linux_*.c. */
extern const struct history_rules linux_2011, linux_2013, linux_2014, linux_2019;

/* A releaser left the word without holders, and QUEUED: wakes whose turn it is. */
void history_wake(struct history_lock *lock, const struct history_rules *rules);

/* Waits in the queue until a releaser grants the lock. For readers of all years. */
void history_wait_read(struct history_lock *lock, const struct history_rules *rules);

/* The same for writers, where the rules grant writers. */
void history_wait_granted_write(struct history_lock *lock, const struct history_rules *rules);

/* Waits in the queue, and takes the lock itself when it is woken and finds it free. */
void history_compete(struct history_lock *lock, const struct history_rules *rules);

/*
 * One attempt to take the lock as reader, for anybody who does not stand in the queue. Every rule
 * lets such a reader in only where no writer holds and nobody waits. Acquire: pairs with the
 * release of history_up_write().
 */
static inline bool history_try_read(struct history_lock *lock)
{
    uint64_t word = atomic_load_explicit(&lock->word, memory_order_relaxed); /* the swap decides */

    while (!(word & (HISTORY_WRITER | HISTORY_QUEUED)))
        if (atomic_compare_exchange_weak_explicit(&lock->word, &word, word + HISTORY_READER,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

/*
 * One attempt to take the lock as writer, past the queue unless a bit of `forbidden` is set.
 * Acquire: pairs with the releases of both history_up_*().
 */
static inline bool history_try_write(struct history_lock *lock, uint64_t forbidden)
{
    uint64_t word = atomic_load_explicit(&lock->word, memory_order_relaxed); /* the swap decides */

    while (!(word & (HISTORY_HELD | forbidden)))
        if (atomic_compare_exchange_weak_explicit(&lock->word, &word, word | HISTORY_WRITER,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

static inline void history_down_read(struct history_lock *lock, const struct history_rules *rules)
{
    if (!history_try_read(lock))
        history_wait_read(lock, rules);
}

/*
 * Release: what was done under the lock lies before the next holder's acquire. Acquire too, for a
 * releaser that goes on to grant the lock: what the other readers did lies before its grant.
 */
static inline void history_up_read(struct history_lock *lock, const struct history_rules *rules)
{
    uint64_t word = atomic_fetch_sub_explicit(&lock->word, HISTORY_READER, memory_order_acq_rel) -
                    HISTORY_READER;

    if (__builtin_expect((word & HISTORY_QUEUED) && !(word & HISTORY_HELD), 0))
        history_wake(lock, rules);
}

/* Release: as above. No other holder's work has to be acquired here. */
static inline void history_up_write(struct history_lock *lock, const struct history_rules *rules)
{
    uint64_t word = atomic_fetch_sub_explicit(&lock->word, HISTORY_WRITER, memory_order_release);

    if (__builtin_expect(word & HISTORY_QUEUED, 0))
        history_wake(lock, rules);
}

/*
 * Defines peer_linux_YEAR, for which the file has made a static down_write(). All that differs
 * besides is the rules, and the type of the lock, a history_lock first; what else an adapter needs
 * follows as members of struct peer.
 */
#define HISTORY_PEER(year, rules, type, ...)                                                       \
    static void down_read(void *lock)                                                              \
    {                                                                                              \
        history_down_read(lock, rules);                                                            \
    }                                                                                              \
    static void up_read(void *lock)                                                                \
    {                                                                                              \
        history_up_read(lock, rules);                                                              \
    }                                                                                              \
    static void up_write(void *lock)                                                               \
    {                                                                                              \
        history_up_write(lock, rules);                                                             \
    }                                                                                              \
    PEER_WORK(work, down_read, up_read, down_write, up_write)                                      \
    const struct peer peer_linux_##year = {.tells_readers = true,                                  \
                                           .is_history = true,                                     \
                                           .size = sizeof(type),                                   \
                                           .down_write = down_write,                               \
                                           .up_write = up_write,                                   \
                                           .work = work,                                           \
                                           __VA_ARGS__};

#endif
