/*
 * What the adapters of C++ locks share. A Lock has the calls of std::shared_mutex: lock_shared,
 * unlock_shared, lock, unlock. It is made in the memory that peer_make() brings, and all of its
 * calls are constants of the measured loop, as for C.
 *
 * std::shared_mutex itself is not compared: with libstdc++ it is a pthread_rwlock, which `rwlock`
 * is already.
 */
#ifndef PEERS_CXX_HPP
#define PEERS_CXX_HPP

#include "peers/body.h"
#include "peers/peer.h"
#include <cerrno>
#include <new>

namespace cxx
{

/* No exception may pass through the caller, which is C. */
template <typename Lock> int init(void *lock)
{
    static_assert(alignof(Lock) <= 128, "peer_make() aligns to two cache lines");
    try {
        new (lock) Lock();
    } catch (...) {
        return -ENOMEM;
    }
    return 0;
}

template <typename Lock> void destroy(void *lock)
{
    static_cast<Lock *>(lock)->~Lock();
}

template <typename Lock> void down_read(void *lock)
{
    static_cast<Lock *>(lock)->lock_shared();
}

template <typename Lock> void up_read(void *lock)
{
    static_cast<Lock *>(lock)->unlock_shared();
}

template <typename Lock> void down_write(void *lock)
{
    static_cast<Lock *>(lock)->lock();
}

template <typename Lock> void up_write(void *lock)
{
    static_cast<Lock *>(lock)->unlock();
}

template <typename Lock>
PEER_WORK(work, down_read<Lock>, up_read<Lock>, down_write<Lock>, up_write<Lock>)

/* By assignment, for C++17 has no designated initialisers. */
template <typename Lock>
constexpr struct peer make_peer(const char *name, const char *summary, bool only_spins = false)
{
    struct peer peer = {};

    peer.name = name;
    peer.summary = summary;
    peer.tells_readers = true;
    peer.only_spins = only_spins;
    peer.size = sizeof(Lock);
    peer.init = init<Lock>;
    peer.destroy = destroy<Lock>;
    peer.down_write = down_write<Lock>;
    peer.up_write = up_write<Lock>;
    peer.work = work<Lock>;
    return peer;
}

} // namespace cxx

/*
 * Defines peer_NAME for the table, which is C, from the lock's type, summary and, where it is so,
 * that it only spins. A constant of C++ is hidden unless it was declared before.
 */
#define CXX_PEER(name, Lock, ...)                                                                  \
    extern "C" {                                                                                   \
    extern const struct peer peer_##name;                                                          \
    }                                                                                              \
    constexpr struct peer peer_##name = cxx::make_peer<Lock>(#name, __VA_ARGS__);

#endif
