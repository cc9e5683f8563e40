/*
 * Many threads, real scheduling: exclusion by data that only the lock protects, nothing left
 * behind, and the bounds on waiting as far as a loaded machine lets one assert them. Short by
 * default; a minute a case with RWSEM_TEST_LONG=1. RWSEM_SEED repeats a run's choices (not its
 * schedule).
 */
#include "watchdog.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_THREADS = 64, WORDS = 8 };

static rwsem_t sem;
static unsigned flags;
static uint64_t data[WORDS]; /* all the same while nobody writes */
static uint32_t is_over, torn;
static uint64_t run_ms = 300;
static unsigned seed;

struct worker {
    pthread_t thread;
    unsigned index, random;
    uint64_t done, gave_up, longest_ns;
    void (*step)(struct worker *);
};

static unsigned dice(struct worker *w, unsigned sides)
{
    w->random = w->random * 1103515245u + 12345u;
    return (w->random >> 16) % sides;
}

static void write_data(void)
{
    uint64_t next = data[0] + 1;
    int i;

    for (i = 0; i < WORDS; i++) {
        if (data[i] != next - 1)
            __atomic_store_n(&torn, 1, __ATOMIC_RELAXED);
        data[i] = next;
    }
}

static void read_data(void)
{
    int i;

    for (i = 1; i < WORDS; i++) {
        if (data[i] != data[0])
            __atomic_store_n(&torn, 1, __ATOMIC_RELAXED);
    }
}

static struct timespec soon(struct worker *w)
{
    uint64_t ns = clock_ns() + dice(w, 300) * 1000;

    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static void write_step(struct worker *w)
{
    uint64_t began = clock_ns(), ns;

    if (rwsem_down_write(&sem))
        abort();
    ns = clock_ns() - began;
    w->longest_ns = ns > w->longest_ns ? ns : w->longest_ns;
    write_data();
    rwsem_up_write(&sem);
}

static void read_step(struct worker *w)
{
    uint64_t began = clock_ns(), ns;

    if (rwsem_down_read(&sem))
        abort();
    ns = clock_ns() - began;
    w->longest_ns = ns > w->longest_ns ? ns : w->longest_ns;
    read_data();
    rwsem_up_read(&sem);
}

static void give_up(struct worker *w, int rc)
{
    if (rc != -EBUSY && rc != -ETIMEDOUT)
        abort();
    w->gave_up++;
}

static void end_write(struct worker *w, int rc)
{
    if (rc) {
        give_up(w, rc);
        return;
    }
    write_data();
    rwsem_up_write(&sem);
}

static void end_read(struct worker *w, int rc)
{
    if (rc) {
        give_up(w, rc);
        return;
    }
    read_data();
    rwsem_up_read(&sem);
}

static void any_step(struct worker *w)
{
    struct timespec deadline;

    switch (dice(w, 9)) {
    case 0:
        write_step(w);
        break;
    case 1:
        end_write(w, rwsem_try_down_write(&sem));
        break;
    case 2:
        end_read(w, rwsem_try_down_read(&sem));
        break;
    case 3:
        deadline = soon(w);
        end_write(w, rwsem_down_write_until(&sem, &deadline));
        break;
    case 4:
        deadline = soon(w);
        end_read(w, rwsem_down_read_until(&sem, &deadline));
        break;
    case 5:
        if (rwsem_down_write(&sem))
            abort();
        write_data();
        rwsem_downgrade_write(&sem);
        read_data();
        rwsem_up_read(&sem);
        break;
    case 6:
        if (rwsem_down_read(&sem))
            abort();
        read_data();
        if (rwsem_try_upgrade(&sem)) {
            rwsem_up_read(&sem);
        } else {
            write_data();
            rwsem_up_write(&sem);
        }
        break;
    default:
        read_step(w);
        break;
    }
}

static void timed_write_step(struct worker *w)
{
    struct timespec deadline = soon(w);

    end_write(w, rwsem_down_write_until(&sem, &deadline));
}

static void *work(void *arg)
{
    struct worker *w = arg;

    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        w->step(w);
        w->done++;
    }
    return NULL;
}

/* Runs the threads for a while; the first `firsts` of them do `first`, the others `rest`. */
static void run(struct worker *workers, unsigned threads, unsigned firsts,
                void (*first)(struct worker *), void (*rest)(struct worker *))
{
    struct timespec time = {(time_t)(run_ms / 1000), (long)(run_ms % 1000) * 1000000};
    unsigned i;

    watch_for_hang(&sem, 30 + (unsigned)(run_ms / 1000));
    rwsem_init(&sem, flags);
    memset(data, 0, sizeof(data));
    is_over = torn = 0;
    memset(workers, 0, threads * sizeof(*workers));
    for (i = 0; i < threads; i++) {
        workers[i].index = i;
        workers[i].random = seed + i * 7919;
        workers[i].step = i < firsts ? first : rest;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    nanosleep(&time, NULL);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    assert_int_equal(torn, 0);
    assert_false(rwsem_is_locked(&sem));
    if (!(flags & RWSEM_SHARED)) {
        assert_int_equal(sem.word, 0);
        assert_int_equal(sem.extra, 0);
    }
}

static void every_call_mixed_keeps_data_whole(void **state)
{
    static const unsigned counts[] = {2, 3, 4, 16};
    struct worker workers[MOST_THREADS];
    size_t i;

    for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        run(workers, counts[i], counts[i], any_step, NULL);
}

static void shared_every_call_mixed_keeps_data_whole(void **state)
{
    struct worker workers[MOST_THREADS];

    flags = RWSEM_SHARED;
    run(workers, 3, 3, any_step, NULL);
    run(workers, 16, 16, any_step, NULL);
    flags = 0;
}

/* folly 2015: a wake-up was lost with exactly 3 or 4 writers. */
static void three_or_four_writers_lose_no_wakeup(void **state)
{
    struct worker workers[MOST_THREADS];

    run(workers, 3, 3, write_step, NULL);
    run(workers, 4, 4, write_step, NULL);
}

/* glibc 23844: try-locks mixed with blocking ones hung for ever. */
static void try_locks_strand_nobody(void **state)
{
    struct worker workers[MOST_THREADS];

    run(workers, 8, 4, any_step, write_step);
}

/* parking_lot: after a timed writer gave up, later ones failed for ever. */
static void timed_writers_that_give_up_spoil_nothing(void **state)
{
    struct worker workers[MOST_THREADS];
    struct timespec deadline = in_ms(1);

    run(workers, 8, 4, timed_write_step, read_step);
    assert_int_equal(rwsem_down_write_until(&sem, &deadline), 0);
    rwsem_up_write(&sem);
}

/* No absolute bound on a shared machine: but nobody may be left out altogether, which is what
 * happens for seconds without the timed hand-off. */
static void nobody_starves(unsigned threads, unsigned firsts, void (*first)(struct worker *),
                           void (*rest)(struct worker *))
{
    struct worker workers[MOST_THREADS];
    unsigned i;

    run(workers, threads, firsts, first, rest);
    for (i = 0; i < threads; i++) {
        if (workers[i].done < 2)
            fail_msg("thread %u of %u was served %u times in %u ms, and waited %u ms once", i,
                     threads, (unsigned)workers[i].done, (unsigned)run_ms,
                     (unsigned)(workers[i].longest_ns / 1000000));
    }
}

static void lone_writer_against_readers_is_served(void **state)
{
    nobody_starves(13, 1, write_step, read_step);
}

static void lone_reader_against_writers_is_served(void **state)
{
    nobody_starves(13, 1, read_step, write_step);
}

static void sixty_four_writers_are_all_served(void **state)
{
    nobody_starves(64, 64, write_step, NULL);
}

/* Sixty-four readers at once, and hundreds of holds: no counter is that narrow. */
static void many_holds_at_once_are_counted(void **state)
{
    unsigned i;

    rwsem_init(&sem, 0);
    for (i = 0; i < 70000; i++)
        assert_int_equal(rwsem_down_read(&sem), 0);
    assert_int_equal(rwsem_try_down_write(&sem), -EBUSY);
    for (i = 0; i < 70000; i++)
        rwsem_up_read(&sem);
    assert_int_equal(sem.word, 0);
}

struct shared_object {
    rwsem_t sem;
    unsigned users;
};

static void *use_for_the_last_time(void *arg)
{
    struct shared_object *object = arg;
    bool is_last;

    if (rwsem_down_write(&object->sem))
        abort();
    is_last = --object->users == 0;
    rwsem_up_write(&object->sem);
    if (is_last) {
        memset(object, 0xa5,
               sizeof(*object)); /* whoever touches it now is seen below, or crashes */
        free(object);
    }
    return NULL;
}

static void who_unlocks_last_may_free(void **state)
{
    uint64_t end = clock_ns() + run_ms * 1000000;
    pthread_t threads[3];
    int i;

    watch_for_hang(NULL, 30 + (unsigned)(run_ms / 1000));
    while (clock_ns() < end) {
        struct shared_object *object = calloc(1, sizeof(*object));

        assert_non_null(object);
        object->users = 3;
        for (i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, use_for_the_last_time, object), 0);
        for (i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    const char *text = getenv("RWSEM_SEED");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_mixed_keeps_data_whole),
        cmocka_unit_test(shared_every_call_mixed_keeps_data_whole),
        cmocka_unit_test(three_or_four_writers_lose_no_wakeup),
        cmocka_unit_test(try_locks_strand_nobody),
        cmocka_unit_test(timed_writers_that_give_up_spoil_nothing),
        cmocka_unit_test(lone_writer_against_readers_is_served),
        cmocka_unit_test(lone_reader_against_writers_is_served),
        cmocka_unit_test(sixty_four_writers_are_all_served),
        cmocka_unit_test(many_holds_at_once_are_counted),
        cmocka_unit_test(who_unlocks_last_may_free),
    };

    seed = text ? (unsigned)strtoul(text, NULL, 10) : (unsigned)clock_ns();
    print_message("# RWSEM_SEED=%u\n", seed);
    if (getenv("RWSEM_TEST_LONG"))
        run_ms = 60000;
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
