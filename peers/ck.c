/*
 * Concurrency Kit's reader-writer locks. All of them spin and never sleep, so with more threads
 * than CPUs they wait for whoever has lost its CPU.
 */
#include "peers/body.h"
#include "peers/peer.h"
#include <ck_pflock.h>
#include <ck_rwlock.h>

/* Zeroed memory is an unlocked lock of either kind. */
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
