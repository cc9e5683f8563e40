/*
 * Watched locks: counts what happens to them and remembers who holds what, in a side table, so that
 * other locks pay nothing. What is wrong with what it sees is misuse.c's. Watching takes a mutex of
 * the process at each operation: it shows waits, it is not for measuring throughput.
 */
#include "watch.h"
#include "tunables.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct rwsem__watched *table[BUCKETS];
static __thread struct rwsem__held_list held_list;

int rwsem__debug_level;

static void lock_table(void)
{
    pthread_mutex_lock(&table_mutex);
}

static void unlock_table(void)
{
    pthread_mutex_unlock(&table_mutex);
}

bool rwsem__start_watching(void)
{
    uint64_t level = 0, stats = 0;

    rwsem__load_number("RWSEM_DEBUG", "0 off, 1 report, 2 abort as well", 0, 2, &level);
    rwsem__load_number("RWSEM_STATS", "0 off, 1 count", 0, 1, &stats);
    rwsem__debug_level = (int)level;

    /* the child gets a table that nobody is in the middle of changing */
    (void)pthread_atfork(lock_table, unlock_table, unlock_table);
    return level || stats;
}

static struct rwsem__watched **bucket_of(const rwsem_t *sem)
{
    return &table[(((uint64_t)(uintptr_t)sem >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

struct rwsem__watched *rwsem__find_watched(const rwsem_t *sem)
{
    struct rwsem__watched *lock = *bucket_of(sem);

    while (lock && lock->sem != sem)
        lock = lock->next;
    return lock;
}

/* The entry, made if need be; NULL without memory: the lock then works unwatched. */
static struct rwsem__watched *get(rwsem_t *sem)
{
    struct rwsem__watched *lock = rwsem__find_watched(sem), **bucket = bucket_of(sem);

    if (!lock && (lock = calloc(1, sizeof(*lock)))) {
        lock->sem = sem;
        lock->next = *bucket;
        *bucket = lock;
    }
    return lock;
}

static unsigned log2_of(uint64_t ns)
{
    return ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;
}

static void count_time(uint64_t ns, uint64_t *sum, uint64_t *most, uint64_t *buckets)
{
    unsigned i = log2_of(ns);

    *sum += ns;
    *most = ns > *most ? ns : *most;
    buckets[i < RWSEM_BUCKETS ? i : RWSEM_BUCKETS - 1]++;
}

static void count(struct rwsem_stats *stats, const struct rwsem__story *story,
                  enum rwsem__mode mode, int rc)
{
    if (rc)
        stats->refused++;
    else if (mode == MODE_READ)
        stats->reads++;
    else
        stats->writes++;
    if (story->wait_ns) {
        stats->waits++;
        count_time(story->wait_ns, &stats->wait_ns, &stats->wait_max_ns, stats->waits_by_log2_ns);
    }
    stats->sleeps += story->sleeps;
    stats->futile_wakes += story->futile_wakes;
    stats->spins_won += story->spins_won;
    stats->spins_lost += story->spins_lost;
    stats->handoffs += story->handoffs;
}

static void push_held(rwsem_t *sem, enum rwsem__mode mode)
{
    if (held_list.count < WATCH_HELD)
        held_list.held[held_list.count++] = (struct rwsem__held){sem, mode, os_now_ns()};
}

/* Forgets the newest hold of the lock, and tells how long it was; false: this thread has none. */
static bool pop_held(const rwsem_t *sem, uint64_t *ns)
{
    unsigned i;

    for (i = held_list.count; i-- > 0;) {
        if (held_list.held[i].sem != sem)
            continue;
        *ns = os_now_ns() - held_list.held[i].since_ns;
        held_list.count--;
        memmove(&held_list.held[i], &held_list.held[i + 1],
                (held_list.count - i) * sizeof(held_list.held[0]));
        return true;
    }
    return false;
}

/* Forgets holds for reading that may have been released elsewhere: nothing can be said of them.
 * With the table locked. */
static void drop_handed_over(void)
{
    const struct rwsem__watched *lock;
    unsigned i, kept = 0;

    for (i = 0; i < held_list.count; i++) {
        lock = rwsem__find_watched(held_list.held[i].sem);
        if (held_list.held[i].mode == MODE_WRITE || !lock || !lock->hands_over)
            held_list.held[kept++] = held_list.held[i];
    }
    held_list.count = kept;
}

int rwsem__watched_take(rwsem_t *sem, enum rwsem__mode mode, const struct rwsem__limits *limits)
{
    struct rwsem__story story = {.wait_ns = 0};
    struct rwsem__limits told = *limits;
    struct rwsem__watched *lock;
    int rc;

    lock_table();
    lock = get(sem);
    if (lock && rwsem__is_checked(sem)) {
        drop_handed_over();
        rwsem__check_take(lock, mode, limits->is_try, &held_list);
    }
    unlock_table();
    told.story = &story;
    rc = rwsem__take(sem, mode, &told);
    lock_table();
    lock = rwsem__find_watched(sem);
    if (lock) {
        count(&lock->stats, &story, mode, rc);
        if (rc == 0 && rwsem__is_checked(sem)) {
            lock->last_tid = word_holder(rwsem__own_hold());
            rwsem__note_stack(&lock->last_stack);
        }
    }
    unlock_table();
    if (rc == 0)
        push_held(sem, mode);
    return rc;
}

bool rwsem__watched_release(rwsem_t *sem, enum rwsem__mode mode)
{
    /* relaxed: the caller's own hold is in it, or it is a misuse */
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED), ns = 0;
    bool is_own = pop_held(sem, &ns), is_fine = true;
    struct rwsem__watched *lock;

    lock_table();
    lock = get(sem);
    if (lock) {
        if (is_own)
            count_time(ns, &lock->stats.hold_ns, &lock->stats.hold_max_ns,
                       lock->stats.holds_by_log2_ns);
        if (rwsem__is_checked(sem))
            is_fine = rwsem__check_release(lock, mode, word);
        lock->hands_over |= mode == MODE_READ && is_fine && !is_own;
    }
    unlock_table();
    return is_fine;
}

bool rwsem__watched_change(rwsem_t *sem, enum rwsem__mode mode)
{
    bool is_fine = mode == MODE_WRITE || rwsem__watched_release(sem, MODE_WRITE);
    uint64_t ns;

    if (mode == MODE_WRITE)
        (void)pop_held(sem, &ns);
    if (is_fine)
        push_held(sem, mode);
    return is_fine;
}

void rwsem__report_destroy(rwsem_t *sem)
{
    struct rwsem__watched *lock;

    if (!rwsem__is_watched(sem) || !rwsem__is_checked(sem))
        return;
    lock_table();
    lock = get(sem);
    if (lock)
        rwsem__report(lock, MISUSE_DESTROY, NULL);
    unlock_table();
}

static void drop_edges(struct rwsem__watched *from, const struct rwsem__watched *to)
{
    struct rwsem__edge **link = &from->edges, *edge;

    while ((edge = *link)) {
        if (to && edge->to != to) {
            link = &edge->next;
            continue;
        }
        *link = edge->next;
        free(edge);
    }
}

void rwsem__forget(rwsem_t *sem)
{
    struct rwsem__watched **link, *lock, *other;
    size_t i;

    if (!rwsem__is_watched(sem))
        return;
    lock_table();
    for (link = bucket_of(sem); *link && (*link)->sem != sem; link = &(*link)->next)
        ;
    lock = *link;
    if (lock) {
        *link = lock->next;
        for (i = 0; i < BUCKETS; i++) {
            for (other = table[i]; other; other = other->next)
                drop_edges(other, lock);
        }
        drop_edges(lock, NULL);
        free(lock);
    }
    unlock_table();
}

int rwsem_get_stats(const rwsem_t *sem, struct rwsem_stats *stats)
{
    struct rwsem__watched *lock;
    int rc = -ENOENT;

    lock_table();
    lock = rwsem__find_watched(sem);
    if (lock) {
        *stats = lock->stats;
        rc = 0;
    }
    unlock_table();
    return rc;
}

int rwsem_set_name(rwsem_t *sem, const char *name)
{
    struct rwsem__watched *lock;

    if (!rwsem__is_watched(sem))
        return -ENOENT;
    lock_table();
    lock = get(sem);
    if (lock)
        lock->name = name;
    unlock_table();
    return lock ? 0 : -ENOMEM;
}
