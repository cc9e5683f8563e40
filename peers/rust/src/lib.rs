//! The calls of Rust's locks for the C adapters beside this folder. Zeroed memory is an unlocked
//! lock, which the constants below hold against the crate's own.

use parking_lot::lock_api::RawRwLock as _;
use parking_lot::RawRwLock;
use std::mem::{size_of, transmute};

const _: () = assert!(size_of::<RawRwLock>() == size_of::<usize>());
const _: () = assert!(unsafe { transmute::<RawRwLock, usize>(RawRwLock::INIT) } == 0);

#[no_mangle]
pub unsafe extern "C" fn rust_parking_lot_down_read(lock: *const RawRwLock) {
    (*lock).lock_shared()
}

#[no_mangle]
pub unsafe extern "C" fn rust_parking_lot_up_read(lock: *const RawRwLock) {
    (*lock).unlock_shared()
}

#[no_mangle]
pub unsafe extern "C" fn rust_parking_lot_down_write(lock: *const RawRwLock) {
    (*lock).lock_exclusive()
}

#[no_mangle]
pub unsafe extern "C" fn rust_parking_lot_up_write(lock: *const RawRwLock) {
    (*lock).unlock_exclusive()
}
