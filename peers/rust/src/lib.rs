//! The calls of Rust's locks for the C adapter beside this folder, which takes their sizes from what
//! is asserted here. Neither has anything to destroy.

use parking_lot::lock_api::RawRwLock as _;
use parking_lot::RawRwLock;
use std::cell::Cell;
use std::mem::{needs_drop, size_of, MaybeUninit};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

const _: () = assert!(size_of::<RawRwLock>() == size_of::<usize>());
const _: () = assert!(!needs_drop::<RawRwLock>());

#[no_mangle]
pub unsafe extern "C" fn parking_lot_init(lock: *mut RawRwLock) -> i32 {
    lock.write(RawRwLock::INIT);
    0
}

#[no_mangle]
pub unsafe extern "C" fn parking_lot_down_read(lock: *const RawRwLock) {
    (*lock).lock_shared()
}

#[no_mangle]
pub unsafe extern "C" fn parking_lot_up_read(lock: *const RawRwLock) {
    (*lock).unlock_shared()
}

#[no_mangle]
pub unsafe extern "C" fn parking_lot_down_write(lock: *const RawRwLock) {
    (*lock).lock_exclusive()
}

#[no_mangle]
pub unsafe extern "C" fn parking_lot_up_write(lock: *const RawRwLock) {
    (*lock).unlock_exclusive()
}

/*
 * The standard library unlocks only by dropping the guard that locking gave. A thread keeps it here
 * in between; it holds one lock at a time. No Option, so that nothing is looked at or dropped but
 * the guard: what this costs is a store and a load of the thread's own memory.
 */
struct Held<T>(Cell<MaybeUninit<T>>);

impl<T> Held<T> {
    const fn new() -> Self {
        Held(Cell::new(MaybeUninit::uninit()))
    }

    fn keep(&self, guard: T) {
        self.0.set(MaybeUninit::new(guard))
    }

    /* Only after keep(), and once. */
    unsafe fn release(&self) {
        drop(self.0.replace(MaybeUninit::uninit()).assume_init())
    }
}

thread_local! {
    static READ: Held<RwLockReadGuard<'static, ()>> = const { Held::new() };
    static WRITE: Held<RwLockWriteGuard<'static, ()>> = const { Held::new() };
}

type StdLock = RwLock<()>;

const _: () = assert!(size_of::<StdLock>() == 12);
const _: () = assert!(!needs_drop::<StdLock>());

#[no_mangle]
pub unsafe extern "C" fn rust_std_init(lock: *mut StdLock) -> i32 {
    lock.write(RwLock::new(()));
    0
}

/* Poison can't be: nothing panics with the lock held. The error has the guard as well. */
#[no_mangle]
pub unsafe extern "C" fn rust_std_down_read(lock: *const StdLock) {
    let lock: &'static StdLock = &*lock;
    READ.with(|held| held.keep(lock.read().unwrap_or_else(|poisoned| poisoned.into_inner())))
}

#[no_mangle]
pub unsafe extern "C" fn rust_std_up_read(_lock: *const StdLock) {
    READ.with(|held| held.release())
}

#[no_mangle]
pub unsafe extern "C" fn rust_std_down_write(lock: *const StdLock) {
    let lock: &'static StdLock = &*lock;
    WRITE.with(|held| held.keep(lock.write().unwrap_or_else(|poisoned| poisoned.into_inner())))
}

#[no_mangle]
pub unsafe extern "C" fn rust_std_up_write(_lock: *const StdLock) {
    WRITE.with(|held| held.release())
}
