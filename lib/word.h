/* clang-format off: it would reflow the drawings */
/*
 * The state word: every bit, who sets it, what must never be, and which step leads where. Read this
 * first. Private locks use all of it but the last three flags; process-shared locks (shared.c) have
 * their own small set of transitions, told there.
 *
 *   63            32 31         16 15 14 13 12 11 10  9  8  7  6  5  4  3  2  1  0
 *  +----------------+-------------+--------------------------------------------------+
 *  | readers or TID | slot (bias) |  -  ND OD SW SR WT SH RR  -  BI WK HO SP QL QU WR |
 *  +----------------+-------------+--------------------------------------------------+
 *
 *  WRITER   a writer holds the lock; the upper half is its TID. Else the upper half counts readers.
 *  QUEUED   the queue is not empty.
 *  QLOCK    someone has the queue locked: a few dozen instructions, no system call inside.
 *  SPINNER  one thread that is not in the queue spins for the lock.
 *  HANDOFF  the lock is reserved: only the thread that was called from the queue may take it.
 *  WOKEN    one writer has been taken out of the queue and called, and has not yet had its try.
 *  BIASED   reserved for readers that count on their own CPU; the slot is their counters' index.
 *           (In a shared lock that is held for writing, the slot tells the writer's namespaces.)
 *  RECURSIVE, SHARED, WATCHED   modes, set by rwsem_init() and never changed.
 *  SLEEP_READ, SLEEP_WRITE, OWNER_DIED, NOT_RECOVERABLE   shared locks only.
 *
 * Invariants. `held` is WRITER or a reader count above 0.
 *  I1  QLOCK needs QUEUED. A queue is created and locked in one step, emptied and unlocked in one.
 *  I2  Not held, and QUEUED: then WOKEN, or SPINNER without HANDOFF. (Nobody sleeps at a free lock
 *      unless someone who is awake has promised to look.) While QLOCK is set its holder may be the
 *      one who is about to make that true; it looks at the word in the step that says so.
 *  I3  HANDOFF and not held: then WOKEN. (A reservation is for someone who comes.)
 *  I4  SPINNER and WOKEN each belong to one thread, which clears the bit in the very step in which
 *      it takes the lock, goes (back) to sleep or gives up. Nobody else clears them.
 *  I5  WRITER and readers never together; a queue's node is in the queue or called, never both.
 *
 * The rule that keeps I2: whoever lets go of the lock last, with QUEUED and nobody awake for it,
 * must call someone. It first takes QLOCK *while it still holds the lock*, then gives up the lock
 * and says what follows (readers let in, a writer called) in one step, then takes the called ones
 * out of the queue and unlocks it, and last wakes them through their own nodes. And whoever goes to
 * sleep does so in a step that sees the lock held (or another one awake for it) and clears its own
 * promise.
 *
 * Why unlock-then-free is safe. A release without anyone to call is one CAS, and the last touch. A
 * release with someone to call ends with the store that clears QLOCK: up to there the called ones
 * have not been told, or there is a sleeper who cannot leave without QLOCK; each of them is a
 * thread that is inside a call on this lock, so the lock cannot have been freed. After that store
 * only the nodes of the called are touched, which stay until their state is written, and FUTEX_WAKE
 * is told an address that may be gone, which is harmless: every futex user must bear a stray
 * wake-up. This is also why readers leave by CAS: after a fetch_sub that turns out to have been the
 * last, the sleeper that has to be called may time out, return, and free the lock before the queue
 * is reached.
 *
 *  who, when                       sees                            makes
 *  ------------------------------  ------------------------------  ------------------------------
 *  reader, fast                    idle                            +1 reader
 *  writer, fast                    idle                            WRITER|TID
 *  reader, newcomer                no WRITER, no HANDOFF (1)       +1 reader, own SPINNER cleared
 *  writer, newcomer                not held, no HANDOFF            WRITER|TID, own SPINNER cleared
 *  writer that was called          not held                        WRITER|TID, WOKEN and HANDOFF
 *                                                                  cleared
 *  anyone about to spin            cannot take, no SPINNER, no     SPINNER
 *                                  HANDOFF
 *  anyone about to sleep           cannot take, no QLOCK           QUEUED and QLOCK, own SPINNER or
 *                                                                  WOKEN cleared; called before and
 *                                                                  overdue: HANDOFF
 *  one that gives up               queue empty                     own bits cleared, HANDOFF with
 *                                                                  WOKEN
 *  one that passes an overdue one  WOKEN, no QLOCK, no HANDOFF     HANDOFF
 *  release, nobody to call (2)     -                               -1 reader, or -WRITER|TID
 *  release, someone to call        no QLOCK                        QLOCK; then settle
 *  downgrade                       WRITER|TID                      1 reader (through settle if
 *                                                                  QUEUED)
 *  upgrade                         1 reader, no HANDOFF            WRITER|TID
 *  settle (QLOCK held)             gives up 0, a reader or the writer, and
 *    - first in queue reads, no WRITER left (3)                    +n readers
 *    - else first writes, not held, nobody awake (2)               WOKEN
 *    - who is first now, or was called now, has waited too long    HANDOFF (kept while WOKEN was
 *                                                                  set)
 *  settle's end                    QLOCK                           QLOCK cleared, QUEUED if empty
 *
 *  (1) or RECURSIVE and there are readers
 *  (2) not QUEUED, or WOKEN, or SPINNER without HANDOFF, or other readers stay
 *  (3) n is all readers in the queue, also those behind writers: a read phase takes all that
 *      wait. A downgrade begins a read phase unless the first in the queue is a writer that has
 *      waited too long.
 */
/* clang-format on */
#ifndef LIB_WORD_H
#define LIB_WORD_H

#include "rwsem.h"

#define WORD_BIT(n) (UINT64_C(1) << (n))

#define WORD_WRITER          RWSEM__WRITER
#define WORD_QUEUED          WORD_BIT(1)
#define WORD_QLOCK           WORD_BIT(2)
#define WORD_SPINNER         WORD_BIT(3)
#define WORD_HANDOFF         WORD_BIT(4)
#define WORD_WOKEN           WORD_BIT(5)
#define WORD_BIASED          WORD_BIT(6)
#define WORD_RECURSIVE       WORD_BIT(8)
#define WORD_SHARED          WORD_BIT(9)
#define WORD_WATCHED         WORD_BIT(10)
#define WORD_SLEEP_READ      WORD_BIT(11)
#define WORD_SLEEP_WRITE     WORD_BIT(12)
#define WORD_OWNER_DIED      WORD_BIT(13)
#define WORD_NOT_RECOVERABLE WORD_BIT(14)
#define WORD_SLOT_SHIFT      16
#define WORD_SLOT_MASK       (UINT64_C(0xffff) << WORD_SLOT_SHIFT)

#define WORD_READER       RWSEM__READER
#define WORD_HOLDER_SHIFT 32
#define WORD_HOLDER_MASK  (~UINT64_C(0) << WORD_HOLDER_SHIFT)
#define WORD_WRITE_HOLD   (WORD_WRITER | WORD_HOLDER_MASK)
#define WORD_HELD         WORD_WRITE_HOLD /* any of it: held, whatever the mode */
#define WORD_MODES        (WORD_RECURSIVE | WORD_SHARED | WORD_WATCHED)
#define WORD_SLEEPERS     (WORD_SLEEP_READ | WORD_SLEEP_WRITE)

/* Readers beyond this are refused (-EAGAIN). Half of the field: what a settle adds at once on top
 * cannot reach its end, for Linux has no more than 2^22 threads. */
#define WORD_MAX_READERS UINT64_C(0x7fffffff)

_Static_assert(sizeof(rwsem_t) == 16, "a lock is 16 bytes");
_Static_assert(WORD_READER == WORD_BIT(WORD_HOLDER_SHIFT), "readers are counted in the upper half");

/* A writer's part of the word: nobody else changes it while that one holds the lock. */
static inline uint64_t word_write_hold(uint32_t tid)
{
    return WORD_WRITER | (uint64_t)tid << WORD_HOLDER_SHIFT;
}

/* The writer's TID or the number of readers, by WORD_WRITER. */
static inline uint32_t word_holder(uint64_t word)
{
    return (uint32_t)(word >> WORD_HOLDER_SHIFT);
}

static inline uint64_t word_readers(uint64_t word)
{
    return word & WORD_WRITER ? 0 : word >> WORD_HOLDER_SHIFT;
}

/* I2's promise: someone who is awake will look at the lock, and may take it. */
static inline bool word_is_attended(uint64_t word)
{
    return word & WORD_WOKEN || (word & (WORD_SPINNER | WORD_HANDOFF)) == WORD_SPINNER;
}

#endif
