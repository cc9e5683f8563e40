/*
 * Concurrency Kit's reader-writer locks. All of them spin and never sleep, so with more threads
 * than CPUs they wait for whoever has lost its CPU.
 */
#include "peers/body.h"
#include "peers/peer.h"
#include <ck_brlock.h>
#include <ck_pflock.h>
#include <ck_rwlock.h>

/* Zeroed memory is an unlocked lock of any kind. */
#define CK_LOCK(kind, text)                                                                        \
    static void kind##_down_read(void *lock)                                                       \
    {                                                                                              \
        ck_##kind##_read_lock(lock);                                                               \
    }                                                                                              \
    static void kind##_up_read(void *lock)                                                         \
    {                                                                                              \
        ck_##kind##_read_unlock(lock);                                                             \
    }                                                                                              \
    static void kind##_down_write(void *lock)                                                      \
    {                                                                                              \
        ck_##kind##_write_lock(lock);                                                              \
    }                                                                                              \
    static void kind##_up_write(void *lock)                                                        \
    {                                                                                              \
        ck_##kind##_write_unlock(lock);                                                            \
    }                                                                                              \
    PEER_WORK(kind##_work, kind##_down_read, kind##_up_read, kind##_down_write, kind##_up_write)   \
    const struct peer peer_ck_##kind = {                                                           \
        .name = "ck_" #kind,                                                                       \
        .summary = text,                                                                           \
        .tells_readers = true,                                                                     \
        .only_spins = true,                                                                        \
        .size = sizeof(ck_##kind##_t),                                                             \
        .down_write = kind##_down_write,                                                           \
        .up_write = kind##_up_write,                                                               \
        .work = kind##_work,                                                                       \
    };

CK_LOCK(pflock, "Concurrency Kit's phase-fair lock, which only spins")
CK_LOCK(rwlock, "Concurrency Kit's reader-writer lock, which only spins")

/*
 * Each reader of a brlock announces itself with a mark of its own, which writers look at. A thread
 * enlists before its measured loop, and has left when the loop's caller may free the lock.
 */
static __thread ck_brlock_reader_t reader __attribute__((aligned(128)));

static void brlock_down_read(void *lock)
{
    ck_brlock_read_lock(lock, &reader);
}

static void brlock_up_read(void *lock)
{
    ck_brlock_read_unlock(&reader);
}

static void brlock_down_write(void *lock)
{
    ck_brlock_write_lock(lock);
}

static void brlock_up_write(void *lock)
{
    ck_brlock_write_unlock(lock);
}

PEER_WORK(brlock_loop, brlock_down_read, brlock_up_read, brlock_down_write, brlock_up_write)

static void brlock_work(struct peer_work *w)
{
    ck_brlock_read_register(w->lock, &reader);
    brlock_loop(w);
    ck_brlock_read_unregister(w->lock, &reader);
}

const struct peer peer_ck_brlock = {
    .name = "ck_brlock",
    .summary = "Concurrency Kit's big-reader lock, a mark a reader, which only spins",
    .tells_readers = true,
    .only_spins = true,
    .size = sizeof(ck_brlock_t),
    .down_write = brlock_down_write,
    .up_write = brlock_up_write,
    .work = brlock_work,
};
