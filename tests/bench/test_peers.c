/*
 * Every lock excludes: threads add to a plain counter and none of it is lost. The same trial must
 * catch a lock that does not exclude.
 */
#include "peers/body.h"
#include "peers/peer.h"
#include "result/config.h"
#include "tests/bench/test.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A lock that only spins and keeps an order may be passed on once in a time slice, where threads
 * outnumber CPUs: it gets less to do. */
enum { THREADS = 4, ADDITIONS = 20000, SPINNERS = 2, SPINNERS_ADDITIONS = 400, MEETINGS = 40 };

struct trial {
    const struct peer *peer;
    void *lock;
    pthread_barrier_t start;
    int additions, threads;
    /* Volatile, so that each addition is a read and a write of its own; guarded by the lock. */
    volatile uint64_t count;
};

/* Threads that share few CPUs seldom meet between a read and its write: now and then, ask for it.
 */
static void *add(void *argument)
{
    struct trial *t = argument;

    pthread_barrier_wait(&t->start);
    for (int i = 0; i < t->additions; i++) {
        t->peer->down_write(t->lock);
        uint64_t seen = t->count;
        if (i % (t->additions / MEETINGS) == 0)
            sched_yield();
        t->count = seen + 1;
        t->peer->up_write(t->lock);
    }
    return NULL;
}

static void *make_lock(const struct peer *peer)
{
    int error;
    void *lock = peer_make(peer, &error);

    assert_int_equal(error, 0);
    assert_non_null(lock);
    return lock;
}

/* Additions that got lost. */
static uint64_t lost(const struct peer *peer)
{
    struct trial t = {
        .peer = peer,
        .lock = make_lock(peer),
        .additions = peer->only_spins ? SPINNERS_ADDITIONS : ADDITIONS,
        .threads = peer->only_spins ? SPINNERS : THREADS,
    };
    pthread_t threads[THREADS];

    assert_int_equal(pthread_barrier_init(&t.start, NULL, (unsigned)t.threads), 0);
    for (int i = 0; i < t.threads; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add, &t), 0);
    for (int i = 0; i < t.threads; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&t.start);
    peer_free(peer, t.lock);
    return (uint64_t)t.threads * (uint64_t)t.additions - t.count;
}

static void every_gate_excludes(void **state)
{
    unsigned gates = 0;

    for (const struct peer *const *p = peer_table; *p; p++)
        if ((*p)->size) {
            print_message("# %s\n", (*p)->name);
            assert_int_equal(lost(*p), 0);
            gates++;
        }
    assert_true(gates >= 4);
}

/* Takes the lock without looking whether it is taken. */
static void push_in(void *lock)
{
    __atomic_store_n((bool *)lock, true, __ATOMIC_SEQ_CST);
}

static void let_go(void *lock)
{
    __atomic_store_n((bool *)lock, false, __ATOMIC_SEQ_CST);
}

static void the_trial_catches_a_lock_that_does_not_exclude(void **state)
{
    const struct peer broken = {
        .name = "broken", .size = sizeof(bool), .down_write = push_in, .up_write = let_go};

    if (strstr(RWSEM_SANITIZERS, "thread"))
        skip_because("the thread sanitizer would rightly report the race that is made here");
    assert_true(lost(&broken) > 0);
}

static void names_are_unique_and_found(void **state)
{
    for (const struct peer *const *p = peer_table; *p; p++) {
        assert_true(strlen((*p)->name) > 0 && strlen((*p)->summary) > 0);
        assert_ptr_equal(peer_find((*p)->name), *p);
        for (const struct peer *const *q = peer_table; q != p; q++)
            assert_string_not_equal((*p)->name, (*q)->name);
    }
    assert_null(peer_find("mutexes"));
    assert_null(peer_find(""));
}

static void the_gates_of_2011_go_by_its_names(void **state)
{
    assert_int_equal(peer_find("none")->size, 0);
    assert_string_equal(peer_find("none")->classic_name, "nolock");
    assert_string_equal(peer_find("spin")->classic_name, "spinlock");
    const struct peer *mutex = peer_find("mutex");
    assert_string_equal(mutex->classic_name ? mutex->classic_name : mutex->name, "mutex");
}

static void a_lock_that_can_be_used_has_both_calls_of_the_write_side(void **state)
{
    for (const struct peer *const *p = peer_table; *p; p++)
        if ((*p)->size)
            assert_true((*p)->down_write && (*p)->up_write);
}

struct loop {
    const struct peer *peer;
    struct peer_work work;
};

static void *run_loop(void *argument)
{
    struct loop *loop = argument;
    loop->peer->work(&loop->work);
    return NULL;
}

/* Runs the measured loop of `rwsem bench lock` in all threads, half of the operations writes. */
static void run_loops(const struct peer *peer, void *lock, struct peer_data *data,
                      struct loop *loops)
{
    const struct timespec a_while = {.tv_nsec = 20000000};
    pthread_t threads[THREADS];
    bool is_over = false;

    for (int i = 0; i < THREADS; i++) {
        loops[i] = (struct loop){
            .peer = peer,
            .work = {.lock = lock,
                     .data = data,
                     .is_over = &is_over,
                     .write_below = 0x80000000u,
                     .random = (uint64_t)i + 1},
        };
        assert_int_equal(pthread_create(&threads[i], NULL, run_loop, &loops[i]), 0);
    }
    nanosleep(&a_while, NULL); /* how much the loops get to do; whatever it is, it must add up */
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void the_measured_loop_of_every_lock_loses_no_write_and_tears_no_read(void **state)
{
    for (const struct peer *const *p = peer_table; *p; p++) {
        struct peer_data data = {{0}};
        struct loop loops[THREADS];
        uint64_t writes = 0;
        if (!(*p)->size)
            continue;
        void *lock = make_lock(*p);
        run_loops(*p, lock, &data, loops);
        peer_free(*p, lock);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(loops[i].work.torn_reads, 0);
            writes += loops[i].work.writes;
        }
        assert_int_equal(data.word[0], writes);
        assert_int_equal(data.word[PEER_DATA_WORDS - 1], writes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gate_excludes),
        cmocka_unit_test(the_trial_catches_a_lock_that_does_not_exclude),
        cmocka_unit_test(names_are_unique_and_found),
        cmocka_unit_test(the_gates_of_2011_go_by_its_names),
        cmocka_unit_test(a_lock_that_can_be_used_has_both_calls_of_the_write_side),
        cmocka_unit_test(the_measured_loop_of_every_lock_loses_no_write_and_tears_no_read),
    };
    return cmocka_run_group_tests_name("bench/peers", tests, NULL, NULL);
}
