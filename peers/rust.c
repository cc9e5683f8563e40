/*
 * parking_lot's RwLock and that of Rust's standard library, through rust/src/lib.rs. Each call
 * crosses from C into Rust, which costs what a call into a library does, as glibc's and nsync's; in
 * Rust the fast path would be inlined.
 */
#include "peers/body.h"
#include "peers/peer.h"

/* The sizes are what lib.rs asserts. */
#define RUST_LOCK(id, bytes, text)                                                                 \
    int id##_init(void *lock);                                                                     \
    void id##_down_read(void *lock);                                                               \
    void id##_up_read(void *lock);                                                                 \
    void id##_down_write(void *lock);                                                              \
    void id##_up_write(void *lock);                                                                \
    PEER_WORK(id##_work, id##_down_read, id##_up_read, id##_down_write, id##_up_write)             \
    const struct peer peer_##id = {                                                                \
        .name = #id,                                                                               \
        .summary = text,                                                                           \
        .tells_readers = true,                                                                     \
        .size = bytes,                                                                             \
        .init = id##_init,                                                                         \
        .down_write = id##_down_write,                                                             \
        .up_write = id##_up_write,                                                                 \
        .work = id##_work,                                                                         \
    };

RUST_LOCK(parking_lot, sizeof(size_t), "RwLock of Rust's parking_lot")
RUST_LOCK(rust_std, 12, "RwLock of Rust's standard library, which watches for panics")
