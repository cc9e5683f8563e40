/*
 * The calls, out of line: everything the inlined fast paths pass on, and the small calls that
 * never wait. Waiting is slow.c's and shared.c's.
 */
#include "annotate.h"
#include "check.h"
#include "probes.h"
#include "slow.h"
#include <pthread.h>
#include <stddef.h>

/* Process-wide: a value that no lock has (QLOCK without QUEUED, I1), see rwsem-fast.h. */
#define NO_IDLE_WORD WORD_QLOCK

uint64_t rwsem__idle_guess;
bool rwsem__watches_all;
__thread uint64_t rwsem__self_hold;

static const struct rwsem__limits no_limits = {.until_ns = OS_NEVER};
static const struct rwsem__limits no_waiting = {.until_ns = OS_NEVER, .is_try = true};
static const struct rwsem__limits until_signal = {.until_ns = OS_NEVER, .is_interruptible = true};

static void forget_tid(void)
{
    RWSEM__SELF = 0; /* the child's only thread has another TID */
}

/* Early, so that in a statically linked program the fork handlers come before the program's own. */
__attribute__((constructor(101))) static void start(void)
{
    bool is_annotating = rwsem__start_annotating();

    rwsem__load_tunables();
    rwsem__watches_all = rwsem__start_watching();
    if (rwsem__watches_all || is_annotating)
        rwsem__idle_guess = NO_IDLE_WORD;
    /* no memory for the handler: fork() is then refused its one guarantee, and nothing else */
    (void)pthread_atfork(NULL, NULL, forget_tid);
}

uint64_t rwsem__own_hold(void)
{
    if (!RWSEM__SELF)
        RWSEM__SELF = word_write_hold(os_tid());
    return RWSEM__SELF;
}

/* Takes the lock, unwatched. */
int rwsem__take(rwsem_t *sem, enum rwsem__mode mode, const struct rwsem__limits *limits)
{
    struct rwsem__request rq = {
        .sem = sem,
        .mode = mode,
        .hold = mode == MODE_READ ? WORD_READER : rwsem__own_hold(),
        .limits = limits,
    };
    uint64_t seen = 0;
    int rc;

    if (RWSEM__LOAD(&sem->word, RWSEM__RELAXED) & WORD_SHARED) /* relaxed: a mode never changes */
        return rwsem__take_shared(&rq);
    rc = rwsem__try_take(&rq, &seen);
    return rc == -EBUSY && !limits->is_try ? rwsem__take_private(&rq) : rc;
}

/* Gives up `give`, gains `keep`, unwatched. */
void rwsem__release(rwsem_t *sem, uint64_t give, uint64_t keep)
{
    PROBE1(released, sem); /* before, for afterwards the lock may be gone */
    if (RWSEM__LOAD(&sem->word, RWSEM__RELAXED) & WORD_SHARED) /* relaxed: as above */
        rwsem__release_shared(sem, give, keep);
    else
        rwsem__release_private(sem, give, keep);
}

/* The caller's hold has come to be of that mode, by other ways than waiting for it. */
static void annotate_became(rwsem_t *sem, enum rwsem__mode mode)
{
    ANNOTATE(asks, sem, mode, true);
    ANNOTATE(took, sem, mode, true);
}

/* Named so that gdb and other readers of stacks see that it is the library. */
static int rwsem__down(rwsem_t *sem, enum rwsem__mode mode, const struct rwsem__limits *limits)
{
    bool may_fail = limits != &no_limits;
    int rc;

    ANNOTATE(ignores, sem, sizeof(*sem));
    ANNOTATE(asks, sem, mode, may_fail);
    rc = rwsem__is_watched(sem) ? rwsem__watched_take(sem, mode, limits)
                                : rwsem__take(sem, mode, limits);
    if (rc == -EOWNERDEAD && mode == MODE_READ) { /* it is a writer now */
        ANNOTATE(failed, sem, MODE_READ);
        annotate_became(sem, MODE_WRITE);
    } else if (rc == 0 || rc == -EOWNERDEAD) {
        ANNOTATE(took, sem, mode, may_fail);
    } else {
        ANNOTATE(failed, sem, mode);
    }
    return rc;
}

int rwsem__down_read_slow(rwsem_t *sem)
{
    return rwsem__down(sem, MODE_READ, &no_limits);
}

int rwsem__down_write_slow(rwsem_t *sem)
{
    return rwsem__down(sem, MODE_WRITE, &no_limits);
}

int rwsem_try_down_read(rwsem_t *sem)
{
    return rwsem__down(sem, MODE_READ, &no_waiting);
}

int rwsem_try_down_write(rwsem_t *sem)
{
    return rwsem__down(sem, MODE_WRITE, &no_waiting);
}

int rwsem_down_read_interruptible(rwsem_t *sem)
{
    return rwsem__down(sem, MODE_READ, &until_signal);
}

int rwsem_down_write_interruptible(rwsem_t *sem)
{
    return rwsem__down(sem, MODE_WRITE, &until_signal);
}

static int rwsem__down_until(rwsem_t *sem, enum rwsem__mode mode, const struct timespec *deadline)
{
    struct rwsem__limits limits = {.until_ns = 0};
    int rc;

    if (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000) {
        rc = rwsem__down(sem, mode, &no_waiting);
        return rc == -EBUSY ? -EINVAL : rc;
    }
    if (deadline->tv_sec >= INT64_MAX / 1000000000)
        limits.until_ns = OS_NEVER;
    else if (deadline->tv_sec >= 0)
        limits.until_ns = (uint64_t)deadline->tv_sec * 1000000000 + (uint64_t)deadline->tv_nsec;
    return rwsem__down(sem, mode, &limits);
}

int rwsem_down_read_until(rwsem_t *sem, const struct timespec *deadline)
{
    return rwsem__down_until(sem, MODE_READ, deadline);
}

int rwsem_down_write_until(rwsem_t *sem, const struct timespec *deadline)
{
    return rwsem__down_until(sem, MODE_WRITE, deadline);
}

/* A writer's hold as it stands in the word: nobody changes it while it is held. */
static uint64_t writer_in(const rwsem_t *sem)
{
    return RWSEM__LOAD(&sem->word, RWSEM__RELAXED) & WORD_WRITE_HOLD;
}

/* Gives up `mode`, and gains a read hold if it `keeps` one. */
static void rwsem__up(rwsem_t *sem, enum rwsem__mode mode, bool keeps)
{
    if (rwsem__is_watched(sem) &&
        !(keeps ? rwsem__watched_change(sem, MODE_READ) : rwsem__watched_release(sem, mode)))
        return;
    ANNOTATE(gives, sem, mode);
    rwsem__release(sem, mode == MODE_READ ? WORD_READER : writer_in(sem), keeps ? WORD_READER : 0);
    ANNOTATE(gave, sem, mode);
    if (keeps)
        annotate_became(sem, MODE_READ);
}

void rwsem__up_read_slow(rwsem_t *sem)
{
    rwsem__up(sem, MODE_READ, false);
}

void rwsem__up_write_slow(rwsem_t *sem)
{
    rwsem__up(sem, MODE_WRITE, false);
}

void rwsem_downgrade_write(rwsem_t *sem)
{
    rwsem__up(sem, MODE_WRITE, true);
}

int rwsem_try_upgrade(rwsem_t *sem)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);
    uint64_t hold = rwsem__own_hold() | (word & WORD_SHARED ? rwsem__shared_slot() : 0);

    while (word_readers(word) == 1 && !(word & (WORD_HANDOFF | WORD_NOT_RECOVERABLE))) {
        /* acquire: pairs with the releases of the readers that left meanwhile */
        if (RWSEM__CAS(&sem->word, &word, word - WORD_READER + hold, RWSEM__ACQUIRE)) {
            ANNOTATE(gives, sem, MODE_READ);
            ANNOTATE(gave, sem, MODE_READ);
            annotate_became(sem, MODE_WRITE);
            if (word & WORD_SHARED)
                rwsem__shared_has_writer(sem);
            if (rwsem__is_watched(sem))
                rwsem__watched_change(sem, MODE_WRITE);
            return 0;
        }
    }
    if (word & WORD_NOT_RECOVERABLE)
        return -ENOTRECOVERABLE;
    if (word & WORD_SHARED && word & WORD_HANDOFF)
        rwsem__doubt_reservation(sem);
    return -EBUSY;
}

int rwsem_init(rwsem_t *sem, unsigned flags)
{
    uint64_t word = 0;

    if (flags & ~(unsigned)(RWSEM_RECURSIVE_READ | RWSEM_SHARED | RWSEM_WATCHED))
        return -EINVAL;
    if (flags & RWSEM_SHARED && flags & RWSEM_WATCHED)
        return -EINVAL;
    word |= flags & RWSEM_RECURSIVE_READ ? WORD_RECURSIVE : 0;
    word |= flags & RWSEM_SHARED ? WORD_SHARED : 0;
    word |= flags & RWSEM_WATCHED ? WORD_WATCHED : 0;
    /* relaxed: nobody may use it yet, so whoever publishes the lock orders this */
    RWSEM__STORE(&sem->extra, UINT64_C(0), RWSEM__RELAXED);
    RWSEM__STORE(&sem->word, word, RWSEM__RELAXED);
    ANNOTATE(is_made, sem);
    rwsem__forget(sem); /* a lock that was there before */
    return 0;
}

int rwsem_destroy(rwsem_t *sem)
{
    /* acquire: pairs with the last release, whose data the caller may be about to free */
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__ACQUIRE);

    if (word & (WORD_HELD | WORD_QUEUED | WORD_WOKEN | WORD_SPINNER)) {
        rwsem__report_destroy(sem);
        return -EBUSY;
    }
    ANNOTATE(is_gone, sem);
    rwsem__forget(sem);
    return 0;
}

bool rwsem_is_locked(const rwsem_t *sem)
{
    return RWSEM__LOAD(&sem->word, RWSEM__RELAXED) & WORD_HELD; /* relaxed: a snapshot */
}

bool rwsem_is_contended(const rwsem_t *sem)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED); /* relaxed: a snapshot */

    return word & (WORD_QUEUED | WORD_SPINNER | WORD_WOKEN | WORD_SLEEPERS);
}

uint32_t rwsem_owner(const rwsem_t *sem)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED); /* relaxed: a snapshot */

    return word & WORD_WRITER ? word_holder(word) : 0;
}

bool rwsem_is_write_held_by_me(const rwsem_t *sem)
{
    return rwsem_owner(sem) == word_holder(rwsem__own_hold());
}
