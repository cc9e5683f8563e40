/*
 * The one layer over the compiler's atomics. The library and the inline fast paths touch shared
 * memory through these macros only, so that the explorer in tests/explore can put itself in
 * between: it names its own header in RWSEM_SEAM and drives every access.
 *
 * Not for use by applications.
 */
#ifndef RWSEM_ATOMIC_H
#define RWSEM_ATOMIC_H

#ifdef RWSEM_SEAM
#include RWSEM_SEAM
#else

#define RWSEM__LOAD(p, order)     __atomic_load_n((p), (order))
#define RWSEM__STORE(p, v, order) __atomic_store_n((p), (v), (order))
#define RWSEM__ADD(p, v, order)   __atomic_fetch_add((p), (v), (order))
#define RWSEM__SUB(p, v, order)   __atomic_fetch_sub((p), (v), (order))
#define RWSEM__AND(p, v, order)   __atomic_fetch_and((p), (v), (order))
#define RWSEM__OR(p, v, order)    __atomic_fetch_or((p), (v), (order))

/* Strong; on failure *seen is what was there, loaded relaxed: no caller acts on it without another
 * access that orders. */
#define RWSEM__CAS(p, seen, v, order)                                                              \
    __atomic_compare_exchange_n((p), (seen), (v), 0, (order), __ATOMIC_RELAXED)

/* What this thread's write hold looks like in the state word; 0 until it has asked for its TID. */
#define RWSEM__SELF (rwsem__self_hold)

#endif

#define RWSEM__RELAXED __ATOMIC_RELAXED
#define RWSEM__ACQUIRE __ATOMIC_ACQUIRE
#define RWSEM__RELEASE __ATOMIC_RELEASE
#define RWSEM__ACQ_REL __ATOMIC_ACQ_REL

#endif
