/*
 * explore [--bound N] [--most N] [--replay SCHEDULE] PROGRAM...
 *
 * Runs the library's slow path, compiled over the seam, under every interleaving within the bound.
 * A program is a string: threads by '|', and for each thread its operations, a letter each:
 *
 *   w  r   down_write, down_read, and up          W  R   the same until a deadline
 *   i  j   the same, interruptible                x  y   the same by the try form
 *   h  g   like w and r, and the hold takes 1 ms  n      down_read twice, nested
 *   d      down_write, downgrade, up_read         u      down_read, try_upgrade, up
 *
 * A thread's last operation ends its use of the lock, which it says while it still holds it. A
 * writer who sees then that all others have said so frees the lock as soon as its own up_write has
 * returned, although others may still be inside theirs. (A reader cannot know that the others have
 * let go.)
 *
 * A letter before ':' in a program is an option of it: p, more than one CPU (waiters may spin); c,
 * recursive readers; s, process-shared.
 *
 * Prints a line a program. Exit status 1 with the schedule and its story if one fails.
 */
#include "explore.h"
#include "lib/check.h"
#include "rwsem.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    rwsem_t lock;
    char ops[EXPLORE_THREADS][16];
    uint64_t flags;
    unsigned writers, readers; /* inside, as the program counts them */
    unsigned users, threads;
    unsigned leaving; /* have said that they are no users any more, and are still inside up_* */
};

static const char *what_is_left(const struct world *w)
{
    if (w->lock.word != w->flags)
        return "the word is not idle again: a flag or a count was left behind";
    return w->lock.extra ? "a node was left in the queue" : NULL;
}

static void free_lock(struct world *w)
{
    const char *wrong = what_is_left(w);

    if (wrong)
        explore_fail(wrong);
    explore_free_lock_memory();
}

static void enter(struct world *w, bool is_writer, bool is_long)
{
    explore_note("is in, to %s", is_writer ? "write" : "read");
    /* Not counted: recursive readers may pass for ever, a shared lock's bound is kept by the
     * sleeper's own clock, and while the queue is locked nobody can reserve the lock. */
    if (!(w->lock.word & (WORD_RECURSIVE | WORD_SHARED | WORD_QLOCK)))
        explore_passes_others(is_writer);
    if (w->writers || (is_writer && w->readers))
        explore_fail("exclusion: a writer is not alone");
    w->writers += is_writer;
    w->readers += !is_writer;
    explore_point(&w->lock, 0, "hold");
    if (is_long)
        explore_pass_time(1000000);
}

/* A reader reads again while it reads, as recursive locks allow. */
static void read_nested(struct world *w)
{
    if (rwsem_down_read(&w->lock))
        explore_fail("a call returned an error that it must not return");
    explore_note("is in twice");
    rwsem_up_read(&w->lock);
}

static void leave(struct world *w, bool is_writer)
{
    w->writers -= is_writer;
    w->readers -= !is_writer;
}

static int take(struct world *w, char op)
{
    /* of no use to anyone but as a time in the future that the clock can be made to reach */
    struct timespec deadline = {.tv_sec = 1, .tv_nsec = 900000};
    int rc;

    explore_begin_wait(strchr("whdWix", op), strchr("ij", op));
    switch (op) {
    case 'w':
    case 'h':
    case 'd':
        rc = rwsem_down_write(&w->lock);
        break;
    case 'W':
        rc = rwsem_down_write_until(&w->lock, &deadline);
        break;
    case 'R':
        rc = rwsem_down_read_until(&w->lock, &deadline);
        break;
    case 'i':
        rc = rwsem_down_write_interruptible(&w->lock);
        break;
    case 'j':
        rc = rwsem_down_read_interruptible(&w->lock);
        break;
    case 'x':
        rc = rwsem_try_down_write(&w->lock);
        break;
    case 'y':
        rc = rwsem_try_down_read(&w->lock);
        break;
    default:
        rc = rwsem_down_read(&w->lock);
        break;
    }
    explore_end_wait();
    return rc;
}

static void check_result(char op, int rc)
{
    const char *allowed = rc == -ETIMEDOUT ? "WR" : rc == -EINTR ? "ij" : rc == -EBUSY ? "xy" : "";

    if (rc && !strchr(allowed, op))
        explore_fail("a call returned an error that it must not return");
}

static void do_op(struct world *w, char op, bool is_final)
{
    bool is_writer = strchr("whdWix", op), is_last = false;
    int rc = take(w, op);

    check_result(op, rc);
    if (rc) {
        explore_note("gives up (%d)", rc);
        w->users -= is_final;
        if (!w->users && !w->leaving)
            free_lock(w);
        return;
    }
    enter(w, is_writer, strchr("hg", op));
    if (op == 'n')
        read_nested(w);
    if (op == 'd') {
        leave(w, true);
        w->readers++; /* before, for a writer must not get in between */
        rwsem_downgrade_write(&w->lock);
        is_writer = false;
        w->readers--;
        enter(w, false, false);
    } else if (op == 'u' && rwsem_try_upgrade(&w->lock) == 0) {
        leave(w, false);
        is_writer = true;
        enter(w, true, false);
    }
    w->users -= is_final;
    w->leaving += is_final;
    is_last = is_writer && !w->users;
    leave(w, is_writer);
    if (is_writer)
        rwsem_up_write(&w->lock);
    else
        rwsem_up_read(&w->lock);
    w->leaving -= is_final;
    if (is_last)
        free_lock(w);
}

static void thread(void *arg, unsigned index)
{
    struct world *w = arg;
    const char *op;

    for (op = w->ops[index]; *op; op++)
        do_op(w, *op, !op[1]);
}

static void reset(void *arg)
{
    struct world *w = arg;

    w->lock = (rwsem_t){w->flags, 0};
    w->writers = w->readers = w->leaving = 0;
    w->users = w->threads;
    explore_lock_memory(&w->lock, sizeof(w->lock));
}

static const char *always(void *arg)
{
    struct world *w = arg;

    if (w->lock.word & WORD_HANDOFF && !explore_has_overdue())
        return "convoy: the lock is reserved although nobody has waited too long";
    return rwsem__broken_invariant(w->lock.word);
}

static const char *at_end(void *arg)
{
    struct world *w = arg;

    return w->users ? "a thread did not end" : what_is_left(w);
}

static bool parse(const char *text, struct world *w, struct explore_program *program)
{
    const char *colon = strchr(text, ':');
    size_t used = 0;

    memset(w, 0, sizeof(*w));
    *program = (struct explore_program){
        .reset = reset, .thread = thread, .at_end = at_end, .always = always, .arg = w, .cpus = 1};
    for (; colon && *text != ':'; text++) {
        if (*text == 'p')
            program->cpus = EXPLORE_THREADS + 1;
        else if (*text == 'c')
            w->flags |= WORD_RECURSIVE;
        else if (*text == 's')
            w->flags |= WORD_SHARED;
        else
            return false;
    }
    for (text += colon != NULL; *text; text++) {
        if (*text == '|') {
            w->threads++;
            used = 0;
        } else if (strchr("wrWRijxyduhgn", *text) && used < 15 && w->threads < EXPLORE_THREADS) {
            w->ops[w->threads][used++] = *text;
        } else {
            return false;
        }
    }
    program->threads = ++w->threads;
    return w->threads <= EXPLORE_THREADS && used;
}

/* Explores one; false: it failed, and that has been told. */
static bool explore(const char *text, unsigned bound, uint64_t most, uint64_t *total)
{
    struct explore_program program;
    struct explore_result result;
    struct world w;

    if (!parse(text, &w, &program)) {
        fprintf(stderr, "explore: '%s' is no program; see tests/explore/main.c\n", text);
        exit(2);
    }
    result = explore_all(&program, bound, most);
    *total += result.schedules;
    printf("%-24s bound %u: %llu schedules, %llu steps: %s\n", text, result.bound,
           (unsigned long long)result.schedules, (unsigned long long)result.steps,
           result.failure ? result.failure : "fine");
    if (!result.failure)
        return true;
    printf("again: explore --replay %s '%s'\n", result.schedule, text);
    explore_replay(&program, result.schedule);
    return false;
}

int main(int argc, char **argv)
{
    unsigned bound = 3;
    uint64_t most = UINT64_MAX, total = 0;
    const char *replay = NULL;
    int i, status = 0;

    rwsem__tunable.spin_ns = 1000;
    rwsem__tunable.spin_max_ns = 2000;
    rwsem__tunable.queue_spins = 2;
    for (i = 1; i < argc && strncmp(argv[i], "--", 2) == 0 && i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--bound") == 0)
            bound = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--most") == 0)
            most = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--replay") == 0)
            replay = argv[i + 1];
        else
            return 2;
    }
    for (; i < argc; i++) {
        if (replay) {
            struct explore_program program;
            struct world w;
            const char *failure;

            if (!parse(argv[i], &w, &program))
                return 2;
            failure = explore_replay(&program, replay);
            printf("%s\n", failure ? failure : "fine");
            return failure != NULL;
        }
        if (!explore(argv[i], bound, most, &total))
            status = 1;
    }
    printf("%llu schedules\n", (unsigned long long)total);
    return status;
}
