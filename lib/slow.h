/*
 * What the files of the slow path share: one request for the lock, and the steps that more than one
 * of them takes.
 */
#ifndef LIB_SLOW_H
#define LIB_SLOW_H

#include "os.h"
#include "queue.h"
#include "tunables.h"
#include <errno.h>

/* What happened during one request; counted for watched locks only. */
struct rwsem__story {
    uint64_t wait_ns; /* from the first failure to get it; 0: got it at once */
    uint32_t spins_won, spins_lost;
    uint32_t sleeps;
    uint32_t futile_wakes; /* called, and had to sleep again */
    uint32_t handoffs;     /* taken while the lock was reserved for this one */
};

struct rwsem__limits {
    uint64_t until_ns; /* CLOCK_MONOTONIC, or OS_NEVER */
    bool is_interruptible;
    bool is_try;                /* return -EBUSY instead of waiting */
    struct rwsem__story *story; /* NULL: nobody wants to know */
};

/* A request belongs to its thread; others see only the node. */
struct rwsem__request {
    rwsem_t *sem;
    enum rwsem__mode mode;
    uint64_t hold; /* what it adds to the word by taking the lock */
    uint64_t mine; /* those of WORD_SPINNER and WORD_WOKEN that are this one's promise */
    const struct rwsem__limits *limits;
    uint64_t since_ns;
    bool
        is_overdue; /* its own copy of node.is_overdue, which others may write while it is queued */
    struct rwsem__node node;
};

/* May this request take the lock, as `word` says? */
bool rwsem__is_open(const struct rwsem__request *rq, uint64_t word);

/* Takes the lock if it may. Returns 0; -EBUSY with *seen what the word was when it could not;
 * -EAGAIN when there are too many readers. Promises are kept only with 0. */
int rwsem__try_take(struct rwsem__request *rq, uint64_t *seen);

/* Takes the lock of a private semaphore, waits for it. */
int rwsem__take_private(struct rwsem__request *rq);

/* Gives up `give` (a reader's or the writer's hold, as it stands in the word), gains `keep` (a
 * reader, by a downgrade), and calls whoever has to be called. */
void rwsem__release_private(rwsem_t *sem, uint64_t give, uint64_t keep);

/* spin.c: waits for the lock awake, if that may pay. Returns 0 (taken) or -EBUSY, then possibly
 * with WORD_SPINNER among rq->mine, which the next step has to honour. */
int rwsem__spin(struct rwsem__request *rq);
void rwsem__enter_crowd(const rwsem_t *sem);
void rwsem__leave_crowd(const rwsem_t *sem);

/* spin.c: remembers until when the one that comes next may be passed; and, asked by one that has
 * passed it, whether that is over (looked at every few times; *now_ns only with true). Advice:
 * other locks may share the memory of it. */
void rwsem__set_bound(const rwsem_t *sem, uint64_t overdue_ns);
uint64_t rwsem__bound(const rwsem_t *sem);
bool rwsem__is_bound_over(const rwsem_t *sem, uint64_t *now_ns);

/* spin.c: waits a moment for WORD_QLOCK; `tries` counts the calls for one attempt. */
void rwsem__wait_for_queue(unsigned *tries);

/* shared.c: the same for process-shared locks. */
int rwsem__take_shared(struct rwsem__request *rq);
void rwsem__release_shared(rwsem_t *sem, uint64_t give, uint64_t keep);
/* The caller has become the writer by an upgrade. */
/* Shared locks. What a writer of this thread sets in the word besides its hold. */
uint64_t rwsem__shared_slot(void);
/* Shared locks. For calls that do not wait and find the lock reserved, maybe for the dead: one in
 * 64 of them, by the clock, ends the reservation and wakes all that wait. */
void rwsem__doubt_reservation(rwsem_t *sem);
void rwsem__shared_has_writer(rwsem_t *sem);

/* This thread's write hold, its TID looked up at the first call. */
uint64_t rwsem__own_hold(void);

#endif
