/*
 * librwsem: a reader-writer semaphore for user space, with the kernel's words and semantics.
 *
 * Many readers or one writer. A zeroed rwsem_t is a valid, unlocked, private lock. Calls return 0
 * or a negative errno; what they return is stated at each. On return of a down_* with 0 the caller
 * holds the lock, and sees all that was written before it was last released (acquire and release).
 *
 * Rules
 * - The thread that takes the lock for writing releases it. A read hold may be released by another
 *   thread, if the program hands it over.
 * - Reads are not recursive, unless RWSEM_RECURSIVE_READ was asked for: a second down_read by a
 *   thread that reads already may wait for a writer, who waits for the first.
 * - A lock may be freed, or its memory reused, as soon as nobody holds it, waits for it or is about
 *   to call on it. A thread that has released the lock and learns, by whatever other means, that it
 *   was the last user may free it at once, even while another thread is still inside the up_*
 *   through which it let this one in.
 * - fork(): the child has a copy of each private lock as it was. Locks that the forking thread
 *   holds for reading can be released in the child; one that it holds for writing can be, too (the
 *   copy still names the parent's thread, which up_write accepts). One that other threads hold or
 *   wait for stays held in the child for ever: initialise it anew there. Shared locks are one lock
 *   in both, held by the parent only.
 * - Not async-signal-safe, except that a handler may use a lock which the code it interrupts can
 *   not hold or be waiting for.
 */
#ifndef RWSEM_H
#define RWSEM_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timespec; /* <time.h> has none in strict C99 */

/* 16 bytes; the fields belong to the library, lib/word.h explains them. */
typedef struct rwsem_s {
    uint64_t word;  /* state: flags, and the number of readers or the writer's TID */
    uint64_t extra; /* private lock: first waiter; shared lock: what tells its writer from others */
} rwsem_t;

#define RWSEM_INIT                                                                                 \
    {                                                                                              \
        0, 0                                                                                       \
    }

enum rwsem_flag {
    /* Readers may pass waiting writers while others read, always, so that a thread may read again
     * while it reads. A stream of readers can then keep a writer out for ever. */
    RWSEM_RECURSIVE_READ = 1,
    /* The lock lies in memory shared by processes, at any address in each. Works without pointers;
     * a writer that died is found (-EOWNERDEAD). A reader that died is not: its read hold stays,
     * and no writer gets in again. Only processes of the same PID and time namespaces find each
     * other's deaths. */
    RWSEM_SHARED = 2,
    /* Watch this lock: statistics, and the checks of debug mode. Costs two calls and a table entry.
     * Not with RWSEM_SHARED. */
    RWSEM_WATCHED = 4,
};

/* Makes *sem an unlocked lock; flags of enum rwsem_flag. Returns -EINVAL for flags that are unknown
 * or do not go together, else 0. Nobody may use the lock meanwhile. */
int rwsem_init(rwsem_t *sem, unsigned flags);

/* Ends the use of a lock. Needed only for watched locks, whose statistics it drops; good style for
 * others. Returns -EBUSY, and leaves the lock alone, when it is held or waited for. */
int rwsem_destroy(rwsem_t *sem);

/*
 * Taking. Blocks until the lock is held, except the try_ forms, which return -EBUSY at once instead
 * of waiting, also when the lock is free but reserved for the first in the queue.
 *   _until          returns -ETIMEDOUT when CLOCK_MONOTONIC has reached *deadline; a free lock is
 *                   taken even when the deadline has passed; -EINVAL for a bad tv_nsec (0 to
 *                   999,999,999) when it would have to wait
 *   _interruptible  returns -EINTR when a signal handler ran in this thread while it slept
 *   -EAGAIN         the lock has 2^31-1 readers (a leak): not taken
 * Shared locks only:
 *   -EOWNERDEAD     the last writer died in the lock. The caller HOLDS the lock, for writing
 *                   whatever it asked for: repair the data, rwsem_consistent(), rwsem_up_write()
 *                   (or rwsem_downgrade_write() and rwsem_up_read())
 *   -ENOTRECOVERABLE it was released without that: not taken, and never will be
 */
int rwsem_down_read(rwsem_t *sem);
int rwsem_down_write(rwsem_t *sem);
int rwsem_try_down_read(rwsem_t *sem);
int rwsem_try_down_write(rwsem_t *sem);
int rwsem_down_read_until(rwsem_t *sem, const struct timespec *deadline);
int rwsem_down_write_until(rwsem_t *sem, const struct timespec *deadline);
int rwsem_down_read_interruptible(rwsem_t *sem);
int rwsem_down_write_interruptible(rwsem_t *sem);

/* Releasing; wakes who has to be woken, and waits for nothing but the queue's internal lock, which
 * is held for some dozen instructions. Undefined for a lock that the caller does not hold in that
 * mode (debug mode reports it). */
void rwsem_up_read(rwsem_t *sem);
void rwsem_up_write(rwsem_t *sem);

/* Turns the caller's write hold into a read hold, without a moment in between in which another
 * writer could come in. Readers in the queue get in with it, unless a writer before them has waited
 * so long that the lock is reserved for it. Never blocks. */
void rwsem_downgrade_write(rwsem_t *sem);

/* Turns the caller's read hold into a write hold if it is the only reader, also past waiting
 * writers, but not when the lock is reserved for the first of them. Returns 0, or with the read
 * hold kept -EBUSY, or -ENOTRECOVERABLE as the taking calls do. Never blocks: waiting would
 * deadlock two upgraders. */
int rwsem_try_upgrade(rwsem_t *sem);

/* Says that the data behind a shared lock is whole again; by the one who was told -EOWNERDEAD and
 * still holds the lock. Returns -EINVAL for any other. */
int rwsem_consistent(rwsem_t *sem);

/* Asking. True only at the moment of looking, unless the answer is about the caller itself. */
bool rwsem_is_locked(const rwsem_t *sem);
bool rwsem_is_contended(const rwsem_t *sem);
bool rwsem_is_write_held_by_me(const rwsem_t *sem);
/* The writer's TID, or 0. */
uint32_t rwsem_owner(const rwsem_t *sem);
/* Abort with a dump unless the caller holds the lock for writing; unless anyone holds it. */
void rwsem_assert_held_write(const rwsem_t *sem);
void rwsem_assert_held(const rwsem_t *sem);

/* Writes the lock's state, owner and queue to the descriptor, a few lines. Waits for the queue's
 * internal lock a moment at most: then says that the queue could not be read. */
void rwsem_dump(rwsem_t *sem, int fd);

/* Reads a tunable ("handoff_ns", see rwsem(7)); returns -ENOENT for a name there is not. */
int rwsem_tunable(const char *name, uint64_t *value);

#include "rwsem-fast.h"

#ifdef __cplusplus
}
#endif

/*
 * Scope guards for C: the lock is held to the end of the block, whichever way that is left.
 *     { RWSEM_READ_SCOPE(&cache->sem); ... return found; }
 * For private locks: there is no place for an error to go to.
 */
#ifndef __cplusplus
static inline rwsem_t *rwsem__enter_read(rwsem_t *sem)
{
    return rwsem_down_read(sem) == 0 ? sem : (rwsem_t *)0;
}

static inline rwsem_t *rwsem__enter_write(rwsem_t *sem)
{
    return rwsem_down_write(sem) == 0 ? sem : (rwsem_t *)0;
}

static inline void rwsem__leave_read(rwsem_t **sem)
{
    if (*sem)
        rwsem_up_read(*sem);
}

static inline void rwsem__leave_write(rwsem_t **sem)
{
    if (*sem)
        rwsem_up_write(*sem);
}

#define RWSEM__JOIN2(a, b) a##b
#define RWSEM__JOIN(a, b)  RWSEM__JOIN2(a, b)
#define RWSEM_READ_SCOPE(sem)                                                                      \
    rwsem_t *RWSEM__JOIN(rwsem_scope_, __LINE__)                                                   \
        __attribute__((cleanup(rwsem__leave_read), unused)) = rwsem__enter_read(sem)
#define RWSEM_WRITE_SCOPE(sem)                                                                     \
    rwsem_t *RWSEM__JOIN(rwsem_scope_, __LINE__)                                                   \
        __attribute__((cleanup(rwsem__leave_write), unused)) = rwsem__enter_write(sem)
#endif

#endif
