/* The mutex, the queue, and the rules by which releasers and waiting writers go. */
#include "peers/history/common.h"
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MUTEX_TURNS = 100 }; /* longer than the mutex is held, shorter than a sleep */

static void sleep_while(_Atomic uint32_t *word, uint32_t expected)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

/*
 * Does not look at the memory: where the sleeper has gone already, its node with it, this wakes
 * nobody, or for no reason someone whose futex lies there now. Every sleep here is in a loop, as
 * must be all others, for futexes may wake for no reason.
 */
static void wake_one(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Acquire, here and below: pairs with the release of history_mutex_unlock(). */
static bool mutex_try(struct history_mutex *mutex)
{
    uint32_t is_free = 0;
    return atomic_compare_exchange_strong_explicit(&mutex->state, &is_free, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

void history_mutex_lock(struct history_mutex *mutex)
{
    for (int i = 0; i < MUTEX_TURNS; i++) {
        /* relaxed: the attempt decides */
        if (!atomic_load_explicit(&mutex->state, memory_order_relaxed) && mutex_try(mutex))
            return;
        history_pause();
    }
    while (atomic_exchange_explicit(&mutex->state, 2, memory_order_acquire))
        sleep_while(&mutex->state, 2);
}

void history_mutex_unlock(struct history_mutex *mutex)
{
    if (atomic_exchange_explicit(&mutex->state, 0, memory_order_release) == 2)
        wake_one(&mutex->state);
}

/* Acquire: what the waker knew, and had done or acquired, lies before what the sleeper does. */
static void sleep_on(struct history_node *node)
{
    while (!atomic_load_explicit(&node->state, memory_order_acquire))
        sleep_while(&node->state, 0);
}

/* For a node that is out of the queue: it is nobody else's, and gone once its state is set. */
static void grant(struct history_node *node)
{
    /* Release: pairs with sleep_on(). */
    atomic_store_explicit(&node->state, 1, memory_order_release);
    wake_one(&node->state);
}

static void append(struct history_lock *lock, struct history_node *node)
{
    node->next = NULL;
    node->previous = lock->tail;
    if (lock->tail)
        lock->tail->next = node;
    else
        lock->head = node;
    lock->tail = node;
    lock->count++;
}

static void take_out(struct history_lock *lock, struct history_node *node)
{
    if (node->previous)
        node->previous->next = node->next;
    else
        lock->head = node->next;
    if (node->next)
        node->next->previous = node->previous;
    else
        lock->tail = node->previous;
    lock->count--;
}

/* For a word that says who holds the lock after a change of the queue. */
static uint64_t queued_if(bool some_are_left)
{
    return some_are_left ? HISTORY_QUEUED : 0;
}

/*
 * Puts a newcomer into the queue, under the mutex, unless it may have the lock at once, which is
 * where neither `forbidden` nor QUEUED is set. Returns whether it stands in the queue. The bit is
 * set beside a bit of `forbidden`, a holder, whose release will therefore see it; or it is set
 * already, and then a holder, or a releaser on its way to the mutex, is still to come.
 */
static bool join_unless_free(struct history_lock *lock, struct history_node *node,
                             uint64_t forbidden, uint64_t taken)
{
    uint64_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);

    while (!(word & HISTORY_QUEUED)) {
        bool is_held = word & forbidden;
        uint64_t next = is_held ? word | HISTORY_QUEUED : word + taken;
        /* Acquire: for the taker, as in history_try_*(). */
        if (!atomic_compare_exchange_weak_explicit(&lock->word, &word, next, memory_order_acquire,
                                                   memory_order_relaxed))
            continue;
        if (!is_held)
            return false;
        break;
    }
    append(lock, node);
    return true;
}

static void wait_for_grant(struct history_lock *lock, const struct history_rules *rules,
                           bool writes)
{
    struct history_node node = {.writes = writes};

    if (rules->hand_off_ns)
        node.since_ns = clock_monotonic_ns();
    history_mutex_lock(&lock->mutex);
    bool waits = writes ? join_unless_free(lock, &node, HISTORY_HELD, HISTORY_WRITER)
                        : join_unless_free(lock, &node, HISTORY_WRITER, HISTORY_READER);
    history_mutex_unlock(&lock->mutex);
    if (waits)
        sleep_on(&node);
}

void history_wait_read(struct history_lock *lock, const struct history_rules *rules)
{
    wait_for_grant(lock, rules, false);
}

void history_wait_granted_write(struct history_lock *lock, const struct history_rules *rules)
{
    wait_for_grant(lock, rules, true);
}

static bool has_waited_enough(const struct history_node *node, const struct history_rules *rules)
{
    return rules->hand_off_ns && clock_monotonic_ns() - node->since_ns > rules->hand_off_ns;
}

/*
 * The lock for a writer that stands in the queue, under the mutex. A head that finds it held though
 * it has waited long asks for the hand-off. As with QUEUED, that is set beside a holder.
 */
static bool take_from_queue(struct history_lock *lock, const struct history_node *node,
                            const struct history_rules *rules)
{
    uint64_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
    bool is_head = lock->head == node;

    for (;;) {
        uint64_t next = HISTORY_WRITER | queued_if(lock->count > 1);
        if ((word & HISTORY_HAND_OFF) && !is_head)
            return false;
        if (word & HISTORY_HELD) {
            if ((word & HISTORY_HAND_OFF) || !is_head || !has_waited_enough(node, rules))
                return false;
            next = word | HISTORY_HAND_OFF;
        }
        /* Acquire: pairs with the releases of history_up_*(). */
        if (atomic_compare_exchange_weak_explicit(&lock->word, &word, next, memory_order_acquire,
                                                  memory_order_relaxed))
            return !(word & HISTORY_HELD);
    }
}

void history_compete(struct history_lock *lock, const struct history_rules *rules)
{
    struct history_node node = {.writes = true};

    if (rules->hand_off_ns)
        node.since_ns = clock_monotonic_ns();
    history_mutex_lock(&lock->mutex);
    if (join_unless_free(lock, &node, HISTORY_HELD, HISTORY_WRITER)) {
        while (!take_from_queue(lock, &node, rules)) {
            /* relaxed: others set it under the mutex only. Whoever does from here on saw the word
             * after take_from_queue() did, and the word then had a holder or a releaser to come. */
            atomic_store_explicit(&node.state, 0, memory_order_relaxed);
            history_mutex_unlock(&lock->mutex);
            sleep_on(&node);
            history_mutex_lock(&lock->mutex);
        }
        take_out(lock, &node);
    }
    history_mutex_unlock(&lock->mutex);
}

/* Makes the head, a writer, the holder. Without stealing nobody else can have touched the word. */
static void grant_writer(struct history_lock *lock)
{
    struct history_node *node = lock->head;

    take_out(lock, node);
    /* relaxed: who reads it so acquires nothing from it; the node's state hands the lock over. An
     * earlier release of the word was acquired by the releaser whose call this is. */
    atomic_store_explicit(&lock->word, HISTORY_WRITER | queued_if(lock->count),
                          memory_order_relaxed);
    history_mutex_unlock(&lock->mutex);
    grant(node);
}

/* Wakes the head, a writer, to compete. It stays where it is, and its node may go as soon as the
 * mutex is free: so the state is set before, and only the address used after. */
static void wake_writer(struct history_lock *lock)
{
    _Atomic uint32_t *state = &lock->head->state;

    atomic_store_explicit(state, 1, memory_order_release); /* pairs with sleep_on() */
    history_mutex_unlock(&lock->mutex);
    wake_one(state);
}

/* Readers that the rules wake together, when the head is one. */
static uint32_t readers_to_wake(const struct history_lock *lock, const struct history_rules *rules)
{
    uint32_t readers = 0;

    for (const struct history_node *n = lock->head; n; n = n->next)
        if (!n->writes)
            readers++;
        else if (!rules->wakes_all_readers)
            break;
    return readers;
}

/*
 * Counts the readers into the word, unless a writer has stolen the lock: its release will see
 * QUEUED and come here again. A head that has waited long asks for the hand-off.
 */
static bool count_in(struct history_lock *lock, uint32_t readers, const struct history_rules *rules)
{
    uint64_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);

    for (;;) {
        bool is_stolen = word & HISTORY_WRITER;
        uint64_t next = (word & HISTORY_HELD) + (uint64_t)readers * HISTORY_READER +
                        queued_if(lock->count > readers);
        if (is_stolen) {
            if ((word & HISTORY_HAND_OFF) || !has_waited_enough(lock->head, rules))
                return false;
            next = word | HISTORY_HAND_OFF;
        }
        /* Acquire: a thief may have come and gone since our own release. What it did lies before
         * the grants, which release. */
        if (atomic_compare_exchange_weak_explicit(&lock->word, &word, next, memory_order_acquire,
                                                  memory_order_relaxed))
            return !is_stolen;
    }
}

static void grant_readers(struct history_lock *lock, const struct history_rules *rules)
{
    struct history_node *first = NULL, **last = &first, *next;
    uint32_t left = readers_to_wake(lock, rules);

    if (!count_in(lock, left, rules)) {
        history_mutex_unlock(&lock->mutex);
        return;
    }
    for (struct history_node *n = lock->head; left; n = next) {
        next = n->next;
        if (n->writes)
            continue;
        take_out(lock, n);
        *last = n;
        last = &n->next;
        left--;
    }
    *last = NULL;
    history_mutex_unlock(&lock->mutex);
    for (struct history_node *n = first; n; n = next) {
        next = n->next;
        grant(n);
    }
}

void history_wake(struct history_lock *lock, const struct history_rules *rules)
{
    history_mutex_lock(&lock->mutex);
    if (!lock->head) /* a thief has been here, and woken the last of them */
        history_mutex_unlock(&lock->mutex);
    else if (!lock->head->writes)
        grant_readers(lock, rules);
    else if (rules->grants_writers)
        grant_writer(lock);
    else
        wake_writer(lock);
}
