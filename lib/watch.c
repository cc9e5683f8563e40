/*
 * Watched locks: counts what happens to them and remembers who holds what, in a side table, so that
 * other locks pay nothing. What is wrong with what it sees is misuse.c's. Watching takes a mutex of
 * the process at each operation: it shows waits, it is not for measuring throughput.
 */
#include "watch.h"
#include "tunables.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct rwsem__watched *table[BUCKETS];
static uint64_t last_id;
/* Made when it is first needed: room in every thread is dear to libraries that are loaded late. */
static __thread struct rwsem__held_list *held_list;

int rwsem__debug_level;
bool rwsem__must_abort;

/* What is kept off while the table is locked: handlers, which may use other watched locks, and
 * cancellation. */
struct peace {
    sigset_t signals;
    int cancel;
};

static void lock_table(struct peace *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before->signals);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel);
    pthread_mutex_lock(&table_mutex);
}

static void unlock_table(const struct peace *before)
{
    bool must_abort = rwsem__must_abort;

    pthread_mutex_unlock(&table_mutex);
    pthread_setcancelstate(before->cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
    if (must_abort)
        abort();
}

static void lock_for_fork(void)
{
    pthread_mutex_lock(&table_mutex);
}

static void unlock_after_fork(void)
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
    (void)pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
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
        lock->id = ++last_id;
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

static pthread_key_t list_key;

static void free_list(void *list)
{
    held_list = NULL; /* another thread-specific destructor may make a new one */
    free(list);
}

static void make_key(void)
{
    (void)pthread_key_create(&list_key, free_list);
}

/* This thread's list; NULL without memory: then nothing is known of what it holds. */
static struct rwsem__held_list *own_list(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (!held_list && !pthread_once(&once, make_key) && (held_list = calloc(1, sizeof(*held_list))))
        (void)pthread_setspecific(list_key, held_list);
    return held_list;
}

/* The following with the table locked, for the list is no signal handler's to meet half changed. */

static void push_held(const struct rwsem__watched *lock, enum rwsem__mode mode)
{
    struct rwsem__held_list *list = own_list();

    if (list && list->count < WATCH_HELD)
        list->held[list->count++] = (struct rwsem__held){lock->sem, lock->id, mode, os_now_ns()};
}

/* Forgets the newest hold of the lock, and tells how long it was; false: this thread has none. */
static bool pop_held(const struct rwsem__watched *lock, uint64_t *ns)
{
    struct rwsem__held_list *list = own_list();
    unsigned i;

    for (i = list ? list->count : 0; i-- > 0;) {
        if (list->held[i].id != lock->id)
            continue;
        *ns = os_now_ns() - list->held[i].since_ns;
        list->count--;
        memmove(&list->held[i], &list->held[i + 1], (list->count - i) * sizeof(list->held[0]));
        return true;
    }
    return false;
}

/* Forgets holds for reading that may have been released elsewhere, of which nothing can be said,
 * and those of locks that are no more. */
static void drop_unsure(struct rwsem__held_list *list)
{
    const struct rwsem__watched *lock;
    unsigned i, kept = 0;

    for (i = 0; i < list->count; i++) {
        lock = rwsem__find_watched(list->held[i].sem);
        if (lock && lock->id == list->held[i].id &&
            (list->held[i].mode == MODE_WRITE || !lock->hands_over))
            list->held[kept++] = list->held[i];
    }
    list->count = kept;
}

int rwsem__watched_take(rwsem_t *sem, enum rwsem__mode mode, const struct rwsem__limits *limits)
{
    struct rwsem__story story = {.wait_ns = 0};
    struct rwsem__limits told = *limits;
    struct rwsem__held_list *list;
    struct rwsem__watched *lock;
    struct peace peace;
    int rc;

    lock_table(&peace);
    lock = get(sem);
    list = lock && rwsem__is_checked(sem) ? own_list() : NULL;
    if (list) {
        drop_unsure(list);
        rwsem__check_take(lock, mode, limits->is_try, list);
    }
    unlock_table(&peace);
    told.story = &story;
    rc = rwsem__take(sem, mode, &told);
    lock_table(&peace);
    lock = rwsem__find_watched(sem);
    if (lock) {
        if (rc == 0)
            push_held(lock, mode);
        count(&lock->stats, &story, mode, rc);
        if (rc == 0 && rwsem__is_checked(sem)) {
            lock->last_tid = word_holder(rwsem__own_hold());
            rwsem__note_stack(&lock->last_stack);
        }
    }
    unlock_table(&peace);
    return rc;
}

bool rwsem__watched_release(rwsem_t *sem, enum rwsem__mode mode)
{
    /* relaxed: the caller's own hold is in it, or it is a misuse */
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED), ns = 0;
    bool is_own, is_fine = true;
    struct rwsem__watched *lock;
    struct peace peace;

    lock_table(&peace);
    lock = get(sem);
    if (lock) {
        is_own = pop_held(lock, &ns);
        if (is_own)
            count_time(ns, &lock->stats.hold_ns, &lock->stats.hold_max_ns,
                       lock->stats.holds_by_log2_ns);
        if (rwsem__is_checked(sem))
            is_fine = rwsem__check_release(lock, mode, word);
        lock->hands_over |= mode == MODE_READ && is_fine && !is_own;
    }
    unlock_table(&peace);
    return is_fine;
}

bool rwsem__watched_change(rwsem_t *sem, enum rwsem__mode mode)
{
    bool is_fine = mode == MODE_WRITE || rwsem__watched_release(sem, MODE_WRITE);
    struct rwsem__watched *lock;
    struct peace peace;
    uint64_t ns;

    lock_table(&peace);
    lock = is_fine ? get(sem) : NULL;
    if (lock) {
        if (mode == MODE_WRITE)
            (void)pop_held(lock, &ns);
        push_held(lock, mode);
    }
    unlock_table(&peace);
    return is_fine;
}

void rwsem__report_destroy(rwsem_t *sem)
{
    struct rwsem__watched *lock;
    struct peace peace;

    if (!rwsem__is_watched(sem) || !rwsem__is_checked(sem))
        return;
    lock_table(&peace);
    lock = get(sem);
    if (lock)
        rwsem__report(lock, MISUSE_DESTROY, NULL);
    unlock_table(&peace);
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
    struct peace peace;
    struct rwsem__watched **link, *lock, *other;
    size_t i;

    if (!rwsem__is_watched(sem))
        return;
    lock_table(&peace);
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
    unlock_table(&peace);
}

int rwsem_get_stats(const rwsem_t *sem, struct rwsem_stats *stats)
{
    struct rwsem__watched *lock;
    struct peace peace;
    int rc = -ENOENT;

    lock_table(&peace);
    lock = rwsem__find_watched(sem);
    if (lock) {
        *stats = lock->stats;
        rc = 0;
    }
    unlock_table(&peace);
    return rc;
}

int rwsem_set_name(rwsem_t *sem, const char *name)
{
    struct rwsem__watched *lock;
    struct peace peace;

    if (!rwsem__is_watched(sem))
        return -ENOENT;
    lock_table(&peace);
    lock = get(sem);
    if (lock)
        lock->name = name;
    unlock_table(&peace);
    return lock ? 0 : -ENOMEM;
}
