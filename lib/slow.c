/*
 * The slow path of private locks: sleep in the queue, be called, let the next ones in. lib/word.h
 * has the rules, with names (I1, I2...) used here. Spinning is spin.c's, process-shared locks are
 * shared.c's.
 *
 * Ideas: one path for both modes, promise of the awake (designated waker) and taking the queue's
 * lock with the release: nsync. Reservation after a bounded wait: Linux' rwsem. Readers that wait
 * enter together: phase-fair locks (Brandenburg and Anderson).
 */
#include "slow.h"
#include "annotate.h"
#include "probes.h"
#include <stddef.h>

/* What differs between the modes. */
static const struct {
    uint64_t excluded_by; /* any of these bits: somebody holds the lock against this mode */
    bool may_join;        /* others of this mode may be in already */
} modes[] = {
    [MODE_READ] = {.excluded_by = WORD_WRITER, .may_join = true},
    [MODE_WRITE] = {.excluded_by = WORD_HELD, .may_join = false},
};

bool rwsem__is_open(const struct rwsem__request *rq, uint64_t word)
{
    if (word & modes[rq->mode].excluded_by)
        return false;
    if (!(word & WORD_HANDOFF) || rq->mine & WORD_WOKEN)
        return true;
    return modes[rq->mode].may_join && word & WORD_RECURSIVE && word & WORD_HELD;
}

static void settle(rwsem_t *sem, uint64_t give, uint64_t keep);

/* The word without this request's promises, and without the reservation if that was for it. */
static uint64_t without_promises(const struct rwsem__request *rq, uint64_t word)
{
    if (rq->mine & WORD_WOKEN)
        word &= ~WORD_HANDOFF;
    return word & ~rq->mine;
}

/* Locks the queue. False, and not locked, if it is empty: a node that was in it has been called. */
static bool lock_queue(rwsem_t *sem)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);
    unsigned tries = 0;

    while (word & WORD_QUEUED) {
        if (word & WORD_QLOCK) {
            rwsem__wait_for_queue(&tries);
            word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);
        } else if (RWSEM__CAS(&sem->word, &word, word | WORD_QLOCK, RWSEM__ACQUIRE)) {
            /* acquire: pairs with unlock_queue() */
            return true;
        }
    }
    return false;
}

/* The last touch of the lock's memory by one who releases it. */
static void unlock_queue(rwsem_t *sem)
{
    uint64_t gone = queue_first(sem) ? WORD_QLOCK : WORD_QLOCK | WORD_QUEUED;

    /* release: pairs with the acquire of the next one that locks the queue */
    RWSEM__AND(&sem->word, ~gone, RWSEM__RELEASE);
}

/* What one settle has decided; the word says so before the queue does. */
struct plan {
    bool lets_readers_in;
    bool calls_writer;
};

/* Decides who comes next, given `word` after the caller's hold is gone, and returns the word that
 * says so, the queue still locked. */
static uint64_t decide(const rwsem_t *sem, uint64_t word, bool is_downgrade, struct plan *plan)
{
    const struct rwsem__node *first = queue_first(sem), *node, *stays = first;
    uint64_t readers = 0;

    *plan = (struct plan){false, false};
    if (word & WORD_WOKEN && !(word & WORD_HELD))
        return word; /* the one that was called before comes first */
    if (first && !(word & WORD_WRITER))
        plan->lets_readers_in = first->mode == MODE_READ || (is_downgrade && !first->is_overdue);
    if (plan->lets_readers_in) {
        stays = NULL;
        for (node = first; node; node = queue_next(sem, node)) {
            if (node->mode == MODE_READ)
                readers++;
            else if (!stays)
                stays = node;
        }
        word += readers * WORD_READER;
    } else if (first && !(word & (WORD_HELD | WORD_WOKEN)) &&
               !(word & WORD_SPINNER && !first->is_overdue)) {
        plan->calls_writer = true;
        word = (word & ~WORD_HANDOFF) | WORD_WOKEN;
        return first->is_overdue ? word | WORD_HANDOFF : word;
    }
    if (word & WORD_WOKEN)
        return word;
    word &= ~WORD_HANDOFF;
    return stays && stays->is_overdue ? word | WORD_HANDOFF : word;
}

/* Takes the called ones out of the queue; returns them as a list by `next`. */
static struct rwsem__node *take_out(rwsem_t *sem, const struct plan *plan)
{
    struct rwsem__node *node = queue_first(sem), *next, *called = NULL, **last = &called;
    enum rwsem__mode mode = plan->lets_readers_in ? MODE_READ : MODE_WRITE;

    if (!plan->lets_readers_in && !plan->calls_writer)
        return NULL;
    for (; node; node = next) {
        next = plan->calls_writer ? NULL : queue_next(sem, node);
        if (node->mode != mode)
            continue;
        queue_remove(sem, node);
        node->next = NULL;
        *last = node;
        last = &node->next;
    }
    return called;
}

static void wake(struct rwsem__node *node)
{
    while (node) {
        struct rwsem__node *next = node->next;
        enum node_state state = node->mode == MODE_READ ? NODE_GRANTED : NODE_CALLED;
        uint32_t *futex = &node->state;

        /* release: pairs with the acquire in wait_for_call(); the node may be gone after it. It
         * also hands a granted reader what this thread acquired from the last writer. */
        RWSEM__STORE(futex, state, RWSEM__RELEASE);
        os_futex_wake(futex, 1, OS_ANY_BIT, OS_PRIVATE);
        node = next;
    }
}

/* Called with the queue locked: gives up `give`, gains `keep`, lets in or calls whoever comes next,
 * unlocks the queue, and wakes. The lock may be gone on return. */
static void settle(rwsem_t *sem, uint64_t give, uint64_t keep)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED), next;
    struct rwsem__node *called, *first;
    struct plan plan;

    do {
        next = decide(sem, word - give + keep, keep != 0, &plan);
        /* release: our hold's end, pairs with the next taker's acquire; acquire: readers that are
         * let in here get, through their node, what the last writer released */
    } while (!RWSEM__CAS(&sem->word, &word, next, RWSEM__ACQ_REL));
    called = take_out(sem, &plan);
    if (plan.calls_writer || !(next & WORD_WOKEN)) { /* else it is that of the one called before */
        first = plan.calls_writer ? called : queue_first(sem);
        rwsem__set_bound(sem, first ? first->overdue_ns : OS_NEVER);
    }
    if (next & WORD_HANDOFF && plan.calls_writer)
        PROBE1(handoff, sem);
    unlock_queue(sem);
    wake(called);
}

/* Called by one that has just taken the lock past those that wait: if the one that comes next has
 * waited too long, reserves the lock for it. A sleeper has a timer for that, too, but needs a CPU
 * to act on it, and those that pass it are the ones that have the CPUs. */
static void heed_those_passed(rwsem_t *sem)
{
    struct rwsem__node *first;
    uint64_t word, now_ns;

    if (!rwsem__is_bound_over(sem, &now_ns))
        return;
    /* acquire: pairs with unlock_queue(), before which the bound was set that belongs to WOKEN */
    word = RWSEM__LOAD(&sem->word, RWSEM__ACQUIRE);
    if (word & WORD_HANDOFF)
        return;
    if (word & WORD_WOKEN) {
        /* It was called, and has not come to run yet. If the word has changed meanwhile: next time.
         * relaxed: hands on no data. */
        if (!(word & WORD_QLOCK) && now_ns >= rwsem__bound(sem))
            RWSEM__CAS(&sem->word, &word, word | WORD_HANDOFF, RWSEM__RELAXED);
        return;
    }
    if (!lock_queue(sem))
        return;
    first = queue_first(sem);
    if (now_ns >= first->overdue_ns)
        first->is_overdue = true;
    settle(sem, 0, 0);
}

int rwsem__try_take(struct rwsem__request *rq, uint64_t *seen)
{
    uint64_t word = RWSEM__LOAD(&rq->sem->word, RWSEM__RELAXED);

    while (rwsem__is_open(rq, word)) {
        if (word_readers(word) >= WORD_MAX_READERS)
            return -EAGAIN;
        /* acquire: pairs with the release of the last holder */
        if (RWSEM__CAS(&rq->sem->word, &word, without_promises(rq, word) + rq->hold,
                       RWSEM__ACQUIRE)) {
            if (rq->limits->story && rq->mine & WORD_WOKEN && word & WORD_HANDOFF)
                rq->limits->story->handoffs++;
            if (word & (WORD_QUEUED | WORD_WOKEN) &&
                !(word & WORD_HANDOFF || rq->mine & WORD_WOKEN))
                heed_those_passed(rq->sem);
            rq->mine = 0;
            return 0;
        }
    }
    *seen = word;
    return -EBUSY;
}

void rwsem__release_private(rwsem_t *sem, uint64_t give, uint64_t keep)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);
    unsigned tries = 0;

    for (;;) {
        uint64_t left = word - give + keep;
        bool is_plain =
            !(word & WORD_QUEUED) || (!keep && (left & WORD_HELD || word_is_attended(word)));

        if (is_plain) {
            /* release: pairs with the next taker's acquire. The last touch. */
            if (RWSEM__CAS(&sem->word, &word, left, RWSEM__RELEASE))
                return;
        } else if (word & WORD_QLOCK) {
            rwsem__wait_for_queue(&tries);
            word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);
        } else if (RWSEM__CAS(&sem->word, &word, word | WORD_QLOCK, RWSEM__ACQUIRE)) {
            settle(sem, give, keep);
            return;
        }
    }
}

/* Gives up without the lock while not in the queue: passes on what was promised to this one. */
static void drop_promises(struct rwsem__request *rq)
{
    rwsem_t *sem = rq->sem;
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);
    unsigned tries = 0;

    while (rq->mine) {
        uint64_t next = without_promises(rq, word);

        if (word & WORD_QLOCK) {
            rwsem__wait_for_queue(&tries);
            word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);
        } else if (!(word & WORD_QUEUED)) {
            if (RWSEM__CAS(&sem->word, &word, next, RWSEM__RELAXED))
                /* relaxed: no data and no queue handed on; the next taker pairs with the last
                 * holder, whose release this RMW continues */
                rq->mine = 0;
        } else if (RWSEM__CAS(&sem->word, &word, next | WORD_QLOCK, RWSEM__ACQUIRE)) {
            rq->mine = 0;
            settle(sem, 0, 0);
        }
    }
}

/* Goes into the queue, or takes the lock if that has become possible. Returns 0 (has the lock),
 * -EINPROGRESS (in the queue), -EAGAIN. One that was called and lost goes to the front. */
static int enqueue(struct rwsem__request *rq)
{
    rwsem_t *sem = rq->sem;
    bool was_called = rq->mine & WORD_WOKEN;
    unsigned tries = 0;
    uint64_t word, next;
    int rc;

    for (;;) {
        rc = rwsem__try_take(rq, &word);
        if (rc != -EBUSY)
            return rc;
        if (word & WORD_QLOCK) {
            rwsem__wait_for_queue(&tries);
            continue;
        }
        next = without_promises(rq, word) | WORD_QUEUED | WORD_QLOCK;
        if (was_called && rq->is_overdue)
            next |= WORD_HANDOFF;
        /* acquire: pairs with unlock_queue(). The step that keeps I2: `word` was not open. */
        if (RWSEM__CAS(&sem->word, &word, next, RWSEM__ACQUIRE))
            break;
    }
    rq->mine = 0;
    /* relaxed: published by unlock_queue()'s release */
    RWSEM__STORE(&rq->node.state, NODE_WAITING, RWSEM__RELAXED);
    rq->node.is_overdue = rq->is_overdue;
    queue_push(sem, &rq->node, was_called);
    if (!(next & WORD_WOKEN)) /* else it is that of the one that was called */
        rwsem__set_bound(sem, queue_first(sem)->overdue_ns);
    unlock_queue(sem);
    return -EINPROGRESS;
}

/* Waits, for the moment that takes, for the state of a node that has been taken out. */
static enum node_state finish_call(struct rwsem__node *node)
{
    uint32_t state;

    /* acquire: pairs with the release in wake() */
    while ((state = RWSEM__LOAD(&node->state, RWSEM__ACQUIRE)) == NODE_WAITING)
        os_futex_wait(&node->state, NODE_WAITING, OS_NEVER, OS_ANY_BIT, OS_PRIVATE);
    return state;
}

/* Leaves the queue with `rc`, unless it has been called at the same time: then returns 0 if it was
 * let in, -EBUSY if it must try (and give up only if it fails). */
static int leave_queue(struct rwsem__request *rq, int rc)
{
    rwsem_t *sem = rq->sem;

    if (lock_queue(sem)) {
        if (rq->node.is_queued) {
            queue_remove(sem, &rq->node);
            settle(sem, 0, 0);
            return rc;
        }
        unlock_queue(sem);
    }
    if (finish_call(&rq->node) == NODE_GRANTED)
        return 0;
    rq->mine = WORD_WOKEN;
    return -EBUSY;
}

/* It has waited too long: says so, and reserves the lock, or takes the part that is free, if it is
 * the first. */
static void become_overdue(struct rwsem__request *rq)
{
    if (!lock_queue(rq->sem))
        return;
    if (rq->node.is_queued) {
        rq->node.is_overdue = true;
        settle(rq->sem, 0, 0);
    } else {
        unlock_queue(rq->sem);
    }
}

/* Why this request has to stop waiting, or 0; `rc` is what the last sleep returned. */
static int reason_to_leave(const struct rwsem__request *rq, uint64_t now_ns, int rc)
{
    if (rc == -EINTR && rq->limits->is_interruptible)
        return -EINTR;
    return now_ns >= rq->limits->until_ns ? -ETIMEDOUT : 0;
}

/* Sleeps in the queue until called. Returns 0 (was let in), -EBUSY (was called, WORD_WOKEN is its
 * own), or has left: -ETIMEDOUT, -EINTR. *why stays what made it leave when it was called as well.
 */
static int wait_for_call(struct rwsem__request *rq, int *why)
{
    const struct rwsem__limits *limits = rq->limits;
    int rc = 0;

    if (limits->story)
        limits->story->sleeps++;
    for (;;) {
        uint64_t until_ns = limits->until_ns, now_ns;
        /* acquire: pairs with the release in wake() */
        uint32_t state = RWSEM__LOAD(&rq->node.state, RWSEM__ACQUIRE);

        if (state == NODE_GRANTED)
            return 0;
        if (state == NODE_CALLED) {
            rq->mine = WORD_WOKEN;
            return -EBUSY;
        }
        now_ns = os_now_ns();
        *why = reason_to_leave(rq, now_ns, rc);
        if (*why)
            return leave_queue(rq, *why);
        if (!rq->is_overdue && now_ns >= rq->node.overdue_ns) {
            rq->is_overdue = true;
            become_overdue(rq);
            continue;
        }
        if (!rq->is_overdue && rq->node.overdue_ns < until_ns)
            until_ns = rq->node.overdue_ns;
        if (limits->is_interruptible && until_ns == OS_NEVER)
            until_ns = INT64_MAX; /* a sleep with an end is not restarted after a handler */
        rc = os_futex_wait(&rq->node.state, NODE_WAITING, until_ns, OS_ANY_BIT, OS_PRIVATE);
    }
}

/* One that was called, or that found no place to sleep, tries; `why`: what has made it stop
 * waiting. */
static int retry(struct rwsem__request *rq, int why)
{
    uint64_t seen;
    int rc = rwsem__try_take(rq, &seen);

    if (rc != -EBUSY || why)
        return rc == -EBUSY ? why : rc;
    rq->is_overdue = os_now_ns() >= rq->node.overdue_ns;
    if (rq->limits->story)
        rq->limits->story->futile_wakes++;
    PROBE2(futile_wake, rq->sem, rq->mode);
    return -EBUSY;
}

int rwsem__take_private(struct rwsem__request *rq)
{
    int rc, why = 0;

    rq->since_ns = os_now_ns();
    rq->node = (struct rwsem__node){.tid = word_holder(rwsem__own_hold()),
                                    .mode = rq->mode,
                                    .overdue_ns = rq->since_ns + rwsem__tunable.handoff_ns};
    ANNOTATE(ignores, &rq->node, sizeof(rq->node));
    PROBE2(wait_start, rq->sem, rq->mode);
    rwsem__enter_crowd(rq->sem);
    do {
        rc = rwsem__spin(rq);
        if (rc == -EBUSY)
            rc = enqueue(rq);
        if (rc == -EINPROGRESS) {
            rwsem__leave_crowd(rq->sem); /* a sleeper wants no CPU */
            rc = wait_for_call(rq, &why);
            rwsem__enter_crowd(rq->sem);
        }
        if (rc == -EBUSY)
            rc = retry(rq, why);
    } while (rc == -EBUSY);
    if (rc)
        drop_promises(rq);
    rwsem__leave_crowd(rq->sem);
    if (rc == 0)
        PROBE2(acquired, rq->sem, rq->mode);
    if (rq->limits->story)
        rq->limits->story->wait_ns = os_now_ns() - rq->since_ns;
    return rc;
}
