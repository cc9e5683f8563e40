/*
 * The slow path of process-shared locks. No queue: a list between address spaces, any of whose
 * members may be killed, cannot be kept whole. Sleepers wait on the lower half of the state word
 * itself, where the flags are, readers and writers told apart by the futex's bits.
 *
 * Who must sleep sets SLEEP_READ or SLEEP_WRITE in a step that sees that it cannot have the lock,
 * and sleeps while the flags are what that step made them. Whoever opens the lock clears the flags
 * of those it is about to wake in that very step, so a sleeper that came too late for the wake-up
 * does not fall asleep. A writer that has slept takes the lock with SLEEP_WRITE set again: others
 * may sleep that the flag stood for. The release is the last touch of the lock but for FUTEX_WAKE's
 * address.
 *
 * A waiter that has waited too long sets HANDOFF, which keeps out all who have not waited so long;
 * the next release then wakes everyone. A flag or reservation left behind by a process that was
 * killed costs a look or one bound, not the lock: each waiter becomes overdue by its own clock, and
 * looks again every dead_owner_check_ns. Calls that do not wait do not become overdue: now and then
 * one that finds a free lock reserved gives up the reservation, and those that still wait are woken
 * to make it again.
 *
 * A writer that died: its TID is in the word, and sem->extra tells it from a later thread of the
 * same number (namespaces and time of start). extra is 0 while the word changes hands, so that one
 * writer's mark is never read with another's TID; a dead TID is then judged by itself. In the word,
 * set in the same step as the TID, is a short form of the namespaces that the TID means something
 * in: elsewhere nobody judges it.
 */
#include "probes.h"
#include "slow.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the flags' half is the first one");

enum { BITS_READ = 1, BITS_WRITE = 2 };

static const struct {
    uint64_t excluded_by, sleep_flag;
    uint32_t bits;
} modes[] = {
    [MODE_READ] = {WORD_WRITER, WORD_SLEEP_READ, BITS_READ},
    [MODE_WRITE] = {WORD_HELD, WORD_SLEEP_WRITE, BITS_WRITE},
};

static uint32_t *flags_of(rwsem_t *sem)
{
    return (uint32_t *)(void *)&sem->word;
}

static void wake_all(rwsem_t *sem)
{
    os_futex_wake(flags_of(sem), OS_ALL, BITS_READ | BITS_WRITE, OS_ACROSS_PROCESSES);
}

/* What tells this thread from others of its TID. */
struct identity {
    uint64_t known_for; /* the hold that it belongs to: a child of fork() has another */
    uint64_t mark;      /* namespaces and birth; 0 where these can't be told */
    uint64_t slot;      /* the namespaces once more, shortened, as the word has them */
};

static const struct identity *own_identity(void)
{
    static __thread struct identity own;
    uint64_t hold = rwsem__own_hold();
    uint32_t birth, spaces;

    if (own.known_for != hold) {
        birth = os_thread_birth(word_holder(hold));
        spaces = os_namespaces();
        own.mark = birth ? (uint64_t)spaces << 32 | birth : 0;
        own.slot = (uint64_t)((spaces * UINT32_C(0x9e3779b1)) >> 16) << WORD_SLOT_SHIFT;
        own.known_for = hold;
    }
    return &own;
}

uint64_t rwsem__shared_slot(void)
{
    return own_identity()->slot;
}

void rwsem__shared_has_writer(rwsem_t *sem)
{
    /* relaxed: read together with the word, which is read again after it; see is_writer_dead() */
    RWSEM__STORE(&sem->extra, own_identity()->mark, RWSEM__RELAXED);
}

/* Is the writer that `word` names surely dead? If so extra is made 0 for the one that follows. */
static bool is_writer_dead(rwsem_t *sem, uint64_t word)
{
    /* acquire: the word is looked at again after it */
    uint64_t mark = RWSEM__LOAD(&sem->extra, RWSEM__ACQUIRE);
    uint32_t tid = word_holder(word), birth;
    bool is_dead;

    if (!(word & WORD_WRITER))
        return false;
    if ((word & WORD_SLOT_MASK) != rwsem__shared_slot() ||
        (mark && mark >> 32 != own_identity()->mark >> 32))
        return false; /* its numbers mean nothing here */
    is_dead = os_is_thread_dead(tid);
    if (!is_dead && mark) {
        birth = os_thread_birth(tid);
        is_dead = birth && birth != (uint32_t)mark;
    }
    if (!is_dead || (RWSEM__LOAD(&sem->word, RWSEM__RELAXED) ^ word) & WORD_WRITE_HOLD)
        return false;
    /* release: 0 before the word names the next writer */
    if (mark)
        RWSEM__CAS(&sem->extra, &mark, UINT64_C(0), RWSEM__RELEASE);
    return true;
}

/* Takes the lock over from a writer that died in it: as a writer, whatever was asked for. Returns
 * -EOWNERDEAD, or -EBUSY. */
static int take_over(struct rwsem__request *rq)
{
    /* acquire: before the mark is looked at */
    uint64_t word = RWSEM__LOAD(&rq->sem->word, RWSEM__ACQUIRE);
    uint64_t dead = word & WORD_WRITE_HOLD, next;

    if (!is_writer_dead(rq->sem, word))
        return -EBUSY;
    while ((word & WORD_WRITE_HOLD) == dead) { /* flags may still change */
        next = (word & ~WORD_WRITE_HOLD) | rwsem__own_hold() | WORD_OWNER_DIED; /* slot: alike */
        if (rq->node.is_overdue)
            next &= ~WORD_HANDOFF; /* it was reserved for this one */
        /* acquire: what the dead one released before; it released nothing since */
        if (RWSEM__CAS(&rq->sem->word, &word, next, RWSEM__ACQUIRE)) {
            rwsem__shared_has_writer(rq->sem);
            return -EOWNERDEAD;
        }
    }
    return -EBUSY;
}

static bool is_open(const struct rwsem__request *rq, uint64_t word)
{
    if (word & modes[rq->mode].excluded_by)
        return false;
    if (!(word & WORD_HANDOFF) || rq->node.is_overdue)
        return true;
    return rq->mode == MODE_READ && word & WORD_RECURSIVE && word & WORD_HELD;
}

/* Takes the lock if it may. Returns 0, -EBUSY with *seen, -EAGAIN, -ENOTRECOVERABLE. */
static int try_take(struct rwsem__request *rq, bool has_slept, uint64_t *seen)
{
    uint64_t word = RWSEM__LOAD(&rq->sem->word, RWSEM__RELAXED), next;

    for (;;) {
        *seen = word;
        if (word & WORD_NOT_RECOVERABLE)
            return -ENOTRECOVERABLE;
        if (!is_open(rq, word))
            return -EBUSY;
        if (word_readers(word) >= WORD_MAX_READERS)
            return -EAGAIN;
        next = word + rq->hold;
        if (rq->mode == MODE_WRITE)
            next |= rwsem__shared_slot();
        if (rq->node.is_overdue)
            next &= ~WORD_HANDOFF;
        if (has_slept && rq->mode == MODE_WRITE)
            next |= WORD_SLEEP_WRITE;
        /* acquire: pairs with the release of the last holder */
        if (RWSEM__CAS(&rq->sem->word, &word, next, RWSEM__ACQUIRE)) {
            if (rq->mode == MODE_WRITE)
                rwsem__shared_has_writer(rq->sem);
            return 0;
        }
    }
}

/* One that waited leaves without the lock: whatever wake-up or reservation it had is everyone's.
 * All are woken even where no flag is set: the release that woke this one has cleared the flag
 * under which others may sleep, and one that came in between kept this one from setting it again.
 */
static void pass_on(rwsem_t *sem)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);

    /* relaxed: hands on no data */
    while (word & (WORD_SLEEPERS | WORD_HANDOFF) &&
           !RWSEM__CAS(&sem->word, &word, word & ~(WORD_SLEEPERS | WORD_HANDOFF), RWSEM__RELAXED))
        ;
    wake_all(sem);
}

void rwsem__doubt_reservation(rwsem_t *sem)
{
    enum { ONE_IN = 64, TICK_NS = 1024 };

    if (os_now_ns() / TICK_NS % ONE_IN == 0)
        pass_on(sem);
}

/* Sleeps once, if the lock still is as `word` says. Returns what the futex did, -EAGAIN if not. */
static int sleep_once(struct rwsem__request *rq, uint64_t word, uint64_t now_ns)
{
    uint64_t until_ns = now_ns + rwsem__tunable.dead_owner_check_ns;
    uint64_t next = word | modes[rq->mode].sleep_flag;

    if (rq->node.is_overdue)
        next |= WORD_HANDOFF;
    else if (rq->node.overdue_ns < until_ns)
        until_ns = rq->node.overdue_ns;
    if (rq->limits->until_ns < until_ns)
        until_ns = rq->limits->until_ns;
    /* relaxed: hands on no data; the futex compares the flags again */
    if (next != word && !RWSEM__CAS(&rq->sem->word, &word, next, RWSEM__RELAXED))
        return -EAGAIN;
    return os_futex_wait(flags_of(rq->sem), (uint32_t)next, until_ns, modes[rq->mode].bits,
                         OS_ACROSS_PROCESSES);
}

/* Waits until the lock is taken or the request has to leave. */
static int wait(struct rwsem__request *rq, uint64_t word)
{
    uint64_t now_ns = os_now_ns(), check_ns = now_ns + rwsem__tunable.dead_owner_check_ns;
    bool has_slept = false;
    int rc = -EBUSY, slept;

    rq->node.overdue_ns = now_ns + rwsem__tunable.handoff_ns;
    PROBE2(wait_start, rq->sem, rq->mode);
    while (rc == -EBUSY) {
        rq->node.is_overdue = now_ns >= rq->node.overdue_ns;
        slept = sleep_once(rq, word, now_ns);
        has_slept |= slept != -EAGAIN;
        now_ns = os_now_ns();
        if (now_ns >= check_ns) {
            check_ns = now_ns + rwsem__tunable.dead_owner_check_ns;
            if (take_over(rq) == -EOWNERDEAD)
                return -EOWNERDEAD;
        }
        rq->node.is_overdue = now_ns >= rq->node.overdue_ns;
        rc = try_take(rq, has_slept, &word);
        if (rc == -EBUSY && slept == -EINTR && rq->limits->is_interruptible)
            rc = -EINTR;
        else if (rc == -EBUSY && now_ns >= rq->limits->until_ns)
            rc = -ETIMEDOUT;
        /* whoever leaves looks first, or short deadlines would never find a dead writer */
        if ((rc == -EINTR || rc == -ETIMEDOUT) && take_over(rq) == -EOWNERDEAD)
            return -EOWNERDEAD;
    }
    if (rc)
        pass_on(rq->sem);
    else
        PROBE2(acquired, rq->sem, rq->mode);
    return rc;
}

int rwsem__take_shared(struct rwsem__request *rq)
{
    uint64_t word = 0;
    int rc = try_take(rq, false, &word);

    if (rc != -EBUSY)
        return rc;
    if (!rq->limits->is_try)
        return wait(rq, word);
    rc = take_over(rq);
    if (rc == -EBUSY && word & WORD_HANDOFF && !(word & WORD_HELD))
        rwsem__doubt_reservation(rq->sem);
    return rc;
}

/* Whom a release that leaves `left` wakes, as the futex's bits; *count of them. Readers and writers
 * take turns: a writer lets readers in, the last reader a writer. */
static uint32_t choose(uint64_t left, bool was_writer, int *count)
{
    bool has_readers = left & WORD_SLEEP_READ && !(left & WORD_WRITER);
    bool has_writers = left & WORD_SLEEP_WRITE && !(left & WORD_HELD);

    *count = OS_ALL;
    if (left & (WORD_HANDOFF | WORD_NOT_RECOVERABLE) && (has_readers || has_writers))
        return BITS_READ | BITS_WRITE;
    if (has_readers && (was_writer || !has_writers))
        return BITS_READ;
    *count = 1;
    return has_writers ? BITS_WRITE : 0;
}

void rwsem__release_shared(rwsem_t *sem, uint64_t give, uint64_t keep)
{
    uint64_t word, left;
    uint32_t bits;
    int count;

    if (give & WORD_WRITER)
        RWSEM__STORE(&sem->extra, UINT64_C(0), RWSEM__RELAXED); /* ordered by the release below */
    word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);
    do {
        left = (word & ~(give & WORD_WRITER ? WORD_SLOT_MASK : 0)) - give + keep;
        if (left & WORD_OWNER_DIED && give & WORD_WRITER)
            left = (left & ~WORD_OWNER_DIED) | WORD_NOT_RECOVERABLE;
        bits = choose(left, give & WORD_WRITER, &count);
        left &= ~(bits & BITS_READ ? WORD_SLEEP_READ : 0);
        left &= ~(bits & BITS_WRITE ? WORD_SLEEP_WRITE : 0);
        /* release: pairs with the next taker's acquire */
    } while (!RWSEM__CAS(&sem->word, &word, left, RWSEM__RELEASE));
    /* From here on the lock may be gone; the kernel is only told where it was. Readers that were
     * flagged and did not sleep any more (timed out, killed): a writer's turn after all. */
    if (bits && os_futex_wake(flags_of(sem), count, bits, OS_ACROSS_PROCESSES) < 1 &&
        bits == BITS_READ && left & WORD_SLEEP_WRITE)
        os_futex_wake(flags_of(sem), 1, BITS_WRITE, OS_ACROSS_PROCESSES);
}

int rwsem_consistent(rwsem_t *sem)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);

    while (word & WORD_OWNER_DIED && (word & WORD_WRITE_HOLD) == rwsem__own_hold()) {
        /* relaxed: only this thread cares until it releases */
        if (RWSEM__CAS(&sem->word, &word, word & ~WORD_OWNER_DIED, RWSEM__RELAXED))
            return 0;
    }
    return -EINVAL;
}
