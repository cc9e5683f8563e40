/*
 * parking_lot's RwLock, through rust/src/lib.rs. Each call crosses from C into Rust, which costs
 * what a call into a library does, as glibc's and nsync's; in Rust the fast path would be inlined.
 */
#include "peers/body.h"
#include "peers/peer.h"

void rust_parking_lot_down_read(void *lock);
void rust_parking_lot_up_read(void *lock);
void rust_parking_lot_down_write(void *lock);
void rust_parking_lot_up_write(void *lock);

PEER_WORK(work, rust_parking_lot_down_read, rust_parking_lot_up_read, rust_parking_lot_down_write,
          rust_parking_lot_up_write)

const struct peer peer_parking_lot = {
    .name = "parking_lot",
    .summary = "RwLock of Rust's parking_lot",
    .tells_readers = true,
    .size = sizeof(size_t), /* as lib.rs checks */
    .down_write = rust_parking_lot_down_write,
    .up_write = rust_parking_lot_up_write,
    .work = work,
};
