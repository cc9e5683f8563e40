/* The invariants of word.h as code, the dump, and the assertions of rwsem.h. */
#include "check.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *rwsem__broken_invariant(uint64_t word)
{
    bool is_held = word & WORD_HELD;

    if (word & WORD_SHARED)
        return word & (WORD_QUEUED | WORD_QLOCK | WORD_SPINNER | WORD_WOKEN)
                   ? "a shared lock has no queue"
                   : NULL;
    if (word & WORD_QLOCK && !(word & WORD_QUEUED))
        return "I1: the queue is locked and there is none";
    if (!is_held && word & WORD_QUEUED && !(word & WORD_QLOCK) && !word_is_attended(word))
        return "I2: the lock is free, threads sleep, and nobody is awake for them";
    if (!is_held && word & WORD_HANDOFF && !(word & WORD_WOKEN))
        return "I3: the lock is free and reserved, and nobody comes";
    if (word & WORD_WRITER && !word_holder(word))
        return "a writer without a TID";
    if (word & (WORD_SLEEPERS | WORD_OWNER_DIED | WORD_NOT_RECOVERABLE))
        return "a private lock with flags of shared ones";
    return NULL;
}

static const struct {
    uint64_t bit;
    const char *name;
} names[] = {
    {WORD_WRITER, "WRITER"},         {WORD_QUEUED, "QUEUED"},
    {WORD_QLOCK, "QLOCK"},           {WORD_SPINNER, "SPINNER"},
    {WORD_HANDOFF, "HANDOFF"},       {WORD_WOKEN, "WOKEN"},
    {WORD_BIASED, "BIASED"},         {WORD_RECURSIVE, "RECURSIVE"},
    {WORD_SHARED, "SHARED"},         {WORD_WATCHED, "WATCHED"},
    {WORD_SLEEP_READ, "SLEEP_READ"}, {WORD_SLEEP_WRITE, "SLEEP_WRITE"},
    {WORD_OWNER_DIED, "OWNER_DIED"}, {WORD_NOT_RECOVERABLE, "NOT_RECOVERABLE"},
};

__attribute__((format(printf, 2, 3))) static void say(int fd, const char *format, ...)
{
    char line[512];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n > 0 && write(fd, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
        return; /* a dump has nobody to complain to */
}

/* Locks the queue unless somebody keeps it; false: not locked. */
static bool try_lock_queue(rwsem_t *sem)
{
    unsigned tries = 0;

    while (tries < 1000) {
        uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED);

        if (!(word & WORD_QUEUED))
            return false;
        /* acquire: pairs with whoever unlocked the queue last */
        if (!(word & WORD_QLOCK) &&
            RWSEM__CAS(&sem->word, &word, word | WORD_QLOCK, RWSEM__ACQUIRE))
            return true;
        tries++;
        os_pause();
    }
    return false;
}

/* The queue, read-only, so that nobody need be called at the end: but a lock given up meanwhile by
 * one who found the queue locked waits for us, not we for it. */
static void dump_queue(rwsem_t *sem, int fd)
{
    enum { SHOWN = 16 };
    struct {
        uint32_t tid;
        char mode, is_overdue;
    } shown[SHOWN];
    const struct rwsem__node *node;
    unsigned n = 0, i;

    if (!try_lock_queue(sem)) {
        say(fd, RWSEM__LOAD(&sem->word, RWSEM__RELAXED) & WORD_QUEUED
                    ? "  queue: locked for longer than a dump waits\n"
                    : "  queue: empty\n");
        return;
    }
    for (node = queue_first(sem); node; node = queue_next(sem, node), n++) {
        if (n < SHOWN) {
            shown[n].tid = node->tid;
            shown[n].mode = node->mode == MODE_READ ? 'r' : 'w';
            shown[n].is_overdue = node->is_overdue ? '!' : ' ';
        }
    }
    /* release: pairs with the acquire of the next one that locks the queue */
    RWSEM__AND(&sem->word, ~WORD_QLOCK, RWSEM__RELEASE);
    say(fd, "  queue: %u waiting, first to last (r reads, w writes, ! has waited too long):\n", n);
    for (i = 0; i < n && i < SHOWN; i++)
        say(fd, "    thread %u %c%c\n", shown[i].tid, shown[i].mode, shown[i].is_overdue);
}

void rwsem_dump(rwsem_t *sem, int fd)
{
    uint64_t word = RWSEM__LOAD(&sem->word, RWSEM__RELAXED); /* relaxed: a snapshot */
    const char *broken = rwsem__broken_invariant(word);
    char flags[256] = "";
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (word & names[i].bit) {
            strcat(flags, " ");
            strcat(flags, names[i].name);
        }
    }
    say(fd, "rwsem %p: word 0x%016llx%s\n", (void *)sem, (unsigned long long)word,
        *flags ? flags : " no flags");
    if (word & WORD_WRITER)
        say(fd, "  held for writing by thread %u\n", word_holder(word));
    else if (word & WORD_HELD)
        say(fd, "  held by %u reader%s\n", word_holder(word), word_holder(word) == 1 ? "" : "s");
    else
        say(fd, "  free\n");
    if (broken)
        say(fd, "  BROKEN %s\n", broken);
    if (!(word & WORD_SHARED))
        dump_queue(sem, fd);
}

static void die(const rwsem_t *sem, const char *what)
{
    say(STDERR_FILENO, "rwsem: %s\n", what);
    rwsem_dump((rwsem_t *)(uintptr_t)sem, STDERR_FILENO);
    abort();
}

void rwsem_assert_held_write(const rwsem_t *sem)
{
    if (!rwsem_is_write_held_by_me(sem))
        die(sem, "this thread must hold the lock for writing, and does not");
}

void rwsem_assert_held(const rwsem_t *sem)
{
    if (!rwsem_is_locked(sem))
        die(sem, "the lock must be held, and is free");
}
