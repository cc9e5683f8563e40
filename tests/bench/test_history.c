/*
 * The kernel's rw_semaphores through the years do what their year did: who may pass whom, who is
 * woken with whom, and when stealing ends. And none of them loses a wake-up or lets in too many.
 *
 * Moments that last a few instructions are held open by the test, which takes the mutex of the
 * lock's queue: a releaser then has freed the word and cannot come to wake anybody. A test that
 * hangs is ended by SIGALRM.
 */
#include "peers/body.h"
#include "peers/history/spin.h"
#include "peers/peer.h"
#include "tests/bench/test.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ACTORS_MOST = 8, HANG_SECONDS = 100, PATIENCE_MS = 20000, A_WHILE_MS = 30, HAND_OFF_MS = 4 };

/* What each year does. All locks here begin with a struct history_lock. */
struct year {
    const char *name;
    const struct history_rules *rules;
    bool steals, spins, hands_off, wakes_all_readers;
};

static const struct year years[] = {
    {.name = "linux-2011", .rules = &linux_2011},
    {.name = "linux-2011-mutex", .rules = &linux_2011},
    {.name = "linux-2013", .rules = &linux_2013, .steals = true},
    {.name = "linux-2014", .rules = &linux_2014, .steals = true, .spins = true},
    {.name = "linux-2019",
     .rules = &linux_2019,
     .steals = true,
     .spins = true,
     .hands_off = true,
     .wakes_all_readers = true},
};

enum { YEARS = sizeof years / sizeof years[0] };

struct scene {
    const struct year *year;
    const struct peer *peer;
    struct history_lock *lock;
    atomic_uint entered;
    _Atomic char order[ACTORS_MOST + 1]; /* the actors' names as they got in */
};

struct actor {
    struct scene *scene;
    pthread_t thread;
    char name;
    bool writes;
    atomic_bool is_inside, may_leave;
};

static void sleep_ms(long ms)
{
    const struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

/* Looks again and again until the condition holds; fails where it does not in a very long time. */
#define wait_until(condition)                                                                      \
    do {                                                                                           \
        int left = PATIENCE_MS;                                                                    \
        while (!(condition) && left--)                                                             \
            sleep_ms(1);                                                                           \
        assert_true(condition);                                                                    \
    } while (0)

static struct scene begin(const struct year *year)
{
    struct scene s = {.year = year, .peer = peer_find(year->name)};
    int error;

    alarm(HANG_SECONDS);
    print_message("# %s\n", year->name);
    assert_non_null(s.peer);
    s.lock = peer_make(s.peer, &error);
    assert_non_null(s.lock);
    return s;
}

/* Nobody holds, nobody waits, no bit is left. */
static void end(struct scene *s)
{
    assert_int_equal(s->lock->word, 0);
    assert_int_equal(s->lock->count, 0);
    assert_null(s->lock->head);
    assert_null(s->lock->tail);
    peer_free(s->peer, s->lock);
    alarm(0);
}

static void assert_order(struct scene *s, const char *expected)
{
    char order[ACTORS_MOST + 1];

    for (size_t i = 0; i < sizeof order; i++)
        order[i] = s->order[i];
    assert_string_equal(order, expected);
}

static void *act(void *argument)
{
    struct actor *a = argument;
    struct scene *s = a->scene;

    if (a->writes)
        s->peer->down_write(s->lock);
    else
        history_down_read(s->lock, s->year->rules);
    s->order[s->entered++] = a->name;
    a->is_inside = true;
    while (!a->may_leave)
        sleep_ms(1);
    if (a->writes)
        s->peer->up_write(s->lock);
    else
        history_up_read(s->lock, s->year->rules);
    return NULL;
}

/* Upper case: a writer. */
static void start(struct scene *s, struct actor *a, char name)
{
    *a = (struct actor){.scene = s, .name = name, .writes = name >= 'A' && name <= 'Z'};
    assert_int_equal(pthread_create(&a->thread, NULL, act, a), 0);
}

static void leave(struct actor *a)
{
    a->may_leave = true;
    assert_int_equal(pthread_join(a->thread, NULL), 0);
}

static void start_holder(struct scene *s, struct actor *a, char name)
{
    start(s, a, name);
    wait_until(a->is_inside);
}

static uint32_t queue_length(struct scene *s)
{
    history_mutex_lock(&s->lock->mutex);
    uint32_t count = s->lock->count;
    history_mutex_unlock(&s->lock->mutex);
    return count;
}

static void start_waiter(struct scene *s, struct actor *a, char name)
{
    uint32_t before = queue_length(s);
    start(s, a, name);
    wait_until(queue_length(s) == before + 1);
}

/* The head of the queue, woken before, has found the lock taken and sleeps again. */
static bool head_has_lost(struct scene *s)
{
    history_mutex_lock(&s->lock->mutex);
    bool sleeps = s->lock->head && !s->lock->head->state;
    history_mutex_unlock(&s->lock->mutex);
    return sleeps;
}

/*
 * The holder frees the lock, and before it can wake anybody a newcomer comes. Returns whether that
 * one got the lock then. When this returns the releaser is done.
 */
static bool comes_between(struct scene *s, struct actor *holder, struct actor *newcomer, char name,
                          bool should)
{
    history_mutex_lock(&s->lock->mutex);
    holder->may_leave = true;
    wait_until(!(s->lock->word & HISTORY_HELD));
    start(s, newcomer, name);
    if (should)
        wait_until(newcomer->is_inside);
    else
        sleep_ms(A_WHILE_MS); /* a broken lock would let it in meanwhile */
    bool is_inside = newcomer->is_inside;
    history_mutex_unlock(&s->lock->mutex);
    assert_int_equal(pthread_join(holder->thread, NULL), 0);
    return is_inside;
}

static void in_2011_a_lock_is_passed_on_in_the_order_of_arrival(void **state)
{
    struct scene s = begin(&years[0]);
    struct actor a[6];

    start_holder(&s, &a[0], 'A');
    start_waiter(&s, &a[1], 'B');
    start_waiter(&s, &a[2], 'c');
    start_waiter(&s, &a[3], 'd');
    start_waiter(&s, &a[4], 'E');
    leave(&a[0]);
    /* Whether or not B runs already, it is the holder. */
    assert_int_equal(s.lock->word, HISTORY_WRITER | HISTORY_QUEUED);
    start_waiter(&s, &a[5], 'f');
    leave(&a[1]);
    assert_int_equal(s.lock->word, 2 * HISTORY_READER | HISTORY_QUEUED);
    wait_until(a[2].is_inside && a[3].is_inside);
    assert_false(a[4].is_inside || a[5].is_inside);
    leave(&a[2]);
    leave(&a[3]);
    wait_until(a[4].is_inside);
    leave(&a[4]);
    leave(&a[5]);
    /* c and d come in together */
    assert_order(&s, s.order[2] == 'c' ? "ABcdEf" : "ABdcEf");
    end(&s);
}

static void in_2011_a_free_lock_is_not_taken_past_the_queue(void **state)
{
    for (int y = 0; y < YEARS; y++) {
        if (years[y].steals)
            continue;
        struct scene s = begin(&years[y]);
        struct actor holder, waiter, newcomer;
        start_holder(&s, &holder, 'H');
        start_waiter(&s, &waiter, 'W');
        assert_false(comes_between(&s, &holder, &newcomer, 'N', false));
        wait_until(waiter.is_inside);
        assert_false(newcomer.is_inside);
        leave(&waiter);
        leave(&newcomer);
        assert_order(&s, "HWN");
        end(&s);
    }
}

static void since_2013_writers_steal_a_free_lock(void **state)
{
    for (int y = 0; y < YEARS; y++) {
        if (!years[y].steals)
            continue;
        struct scene s = begin(&years[y]);
        struct actor holder, waiter, newcomer;
        start_holder(&s, &holder, 'H');
        start_waiter(&s, &waiter, 'W');
        assert_true(comes_between(&s, &holder, &newcomer, 'N', true));
        leave(&newcomer);
        wait_until(waiter.is_inside);
        leave(&waiter);
        assert_order(&s, "HNW");
        end(&s);
    }
}

static void readers_never_pass_the_queue(void **state)
{
    for (int y = 0; y < YEARS; y++) {
        struct scene s = begin(&years[y]);
        struct actor holder, waiter, newcomer;
        start_holder(&s, &holder, 'h');
        start_waiter(&s, &waiter, 'W');
        start_waiter(&s, &newcomer, 'n');
        leave(&holder);
        wait_until(waiter.is_inside);
        leave(&waiter);
        leave(&newcomer);
        assert_order(&s, "hWn");
        end(&s);
    }
}

/* Before 2019 stealing has no end; since then it ends with a head that waited and lost. */
static void only_in_2019_a_writer_that_waited_long_is_passed_no_more(void **state)
{
    for (int y = 0; y < YEARS; y++) {
        if (!years[y].steals)
            continue;
        struct scene s = begin(&years[y]);
        struct actor holder, waiter, thief, late;
        bool hands_off = years[y].hands_off;
        start_holder(&s, &holder, 'H');
        start_waiter(&s, &waiter, 'W');
        sleep_ms(HAND_OFF_MS + 1);
        assert_true(comes_between(&s, &holder, &thief, 'N', true));
        wait_until(head_has_lost(&s));
        assert_int_equal(s.lock->word,
                         HISTORY_WRITER | HISTORY_QUEUED | (hands_off ? HISTORY_HAND_OFF : 0));
        assert_int_equal(comes_between(&s, &thief, &late, 'L', !hands_off), !hands_off);
        if (hands_off) {
            wait_until(waiter.is_inside);
            assert_false(late.is_inside);
        } else {
            leave(&late);
        }
        leave(&waiter);
        if (hands_off)
            leave(&late);
        assert_order(&s, hands_off ? "HNWL" : "HNLW");
        end(&s);
    }
}

static void only_in_2019_a_reader_that_waited_long_is_passed_no_more(void **state)
{
    for (int y = 0; y < YEARS; y++) {
        if (!years[y].steals)
            continue;
        struct scene s = begin(&years[y]);
        struct actor holder, waiter, thief, late;
        bool hands_off = years[y].hands_off;
        start_holder(&s, &holder, 'H');
        start_waiter(&s, &waiter, 'w');
        sleep_ms(HAND_OFF_MS + 1);
        assert_true(comes_between(&s, &holder, &thief, 'N', true));
        assert_int_equal(s.lock->word,
                         HISTORY_WRITER | HISTORY_QUEUED | (hands_off ? HISTORY_HAND_OFF : 0));
        assert_int_equal(comes_between(&s, &thief, &late, 'L', !hands_off), !hands_off);
        if (!hands_off)
            leave(&late);
        wait_until(waiter.is_inside);
        leave(&waiter);
        if (hands_off)
            leave(&late);
        assert_order(&s, hands_off ? "HNwL" : "HNLw");
        end(&s);
    }
}

static void only_in_2019_readers_behind_a_writer_are_woken_with_the_first(void **state)
{
    for (int y = 0; y < YEARS; y++) {
        struct scene s = begin(&years[y]);
        struct actor holder, first, writer, second;
        bool wakes_all = years[y].wakes_all_readers;
        start_holder(&s, &holder, 'H');
        start_waiter(&s, &first, 'f');
        start_waiter(&s, &writer, 'W');
        start_waiter(&s, &second, 's');
        leave(&holder);
        assert_int_equal(history_readers(s.lock->word), wakes_all ? 2 : 1);
        assert_int_equal(queue_length(&s), wakes_all ? 1 : 2);
        wait_until(first.is_inside);
        if (wakes_all) {
            wait_until(second.is_inside);
            leave(&second);
        }
        leave(&first);
        wait_until(writer.is_inside);
        leave(&writer);
        if (!wakes_all)
            leave(&second);
        end(&s);
    }
}

/* As where the first spinner has lost its CPU: it does not compete, and does not leave. */
static void nobody_hangs_behind_a_spinner_that_does_not_run(void **state)
{
    for (int y = 0; y < YEARS; y++) {
        if (!years[y].spins)
            continue;
        struct scene s = begin(&years[y]);
        struct history_spun *spun = (struct history_spun *)s.lock;
        struct history_spinner stuck;
        struct actor holder, waiters[2];
        start_holder(&s, &holder, 'H');
        history_line_up(spun, &stuck);
        assert_true(stuck.is_first);
        start_waiter(&s, &waiters[0], 'V');
        start_waiter(&s, &waiters[1], 'W');
        leave(&holder);
        wait_until(waiters[0].is_inside);
        leave(&waiters[0]);
        leave(&waiters[1]);
        history_leave_line(spun, &stuck);
        assert_null(spun->first);
        assert_null(spun->last);
        assert_order(&s, "HVW");
        end(&s);
    }
}

static void the_line_has_one_first_whoever_leaves(void **state)
{
    struct history_spun spun = {.turn = 0};
    struct history_spinner a, b, c;

    history_line_up(&spun, &a);
    history_line_up(&spun, &b);
    history_line_up(&spun, &c);
    assert_true(a.is_first && !b.is_first && !c.is_first);
    history_leave_line(&spun, &b);
    assert_true(a.is_first && !c.is_first);
    history_leave_line(&spun, &a);
    assert_true(c.is_first);
    history_line_up(&spun, &a);
    assert_false(a.is_first);
    history_leave_line(&spun, &a);
    history_leave_line(&spun, &c);
    assert_null(spun.first);
    assert_null(spun.last);
}

enum { CROWD = 12 };

struct crowd_member {
    const struct peer *peer;
    pthread_t thread;
    struct peer_work work;
};

static void *work(void *argument)
{
    struct crowd_member *m = argument;
    m->peer->work(&m->work);
    return NULL;
}

/* More threads than CPUs, for `ms`; what they wrote and read must add up, and all must come back.
 */
static void crowd(struct scene *s, uint32_t write_below, uint64_t inside_turns, long ms)
{
    struct peer_data data = {{0}};
    struct crowd_member members[CROWD];
    uint64_t writes = 0;
    bool is_over = false;

    for (unsigned i = 0; i < CROWD; i++) {
        members[i] = (struct crowd_member){
            .peer = s->peer,
            .work = {.lock = s->lock,
                     .data = &data,
                     .is_over = &is_over,
                     .write_below = write_below,
                     .inside_turns = inside_turns,
                     .outside_turns = i % 3 * inside_turns,
                     .random = i + 1},
        };
        assert_int_equal(pthread_create(&members[i].thread, NULL, work, &members[i]), 0);
    }
    sleep_ms(ms); /* how much they get to do; whatever it is, it must add up */
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < CROWD; i++) {
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
        assert_int_equal(members[i].work.torn_reads, 0);
        writes += members[i].work.writes;
    }
    assert_int_equal(data.word[0], writes);
    assert_int_equal(data.word[PEER_DATA_WORDS - 1], writes);
}

static void crowds_come_back_and_lose_nothing(void **state)
{
    static const uint32_t write_below[] = {0x4000000, 0x40000000, 0x80000000, 0xffffffff};
    static const uint64_t inside_turns[] = {0, 3000, 100000};
    long ms = getenv("RWSEM_TEST_LONG") ? 1000 : 60;

    for (int y = 0; y < YEARS; y++) {
        struct scene s = begin(&years[y]);
        for (size_t w = 0; w < sizeof write_below / sizeof write_below[0]; w++)
            for (size_t i = 0; i < sizeof inside_turns / sizeof inside_turns[0]; i++)
                crowd(&s, write_below[w], inside_turns[i], ms);
        end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_2011_a_lock_is_passed_on_in_the_order_of_arrival),
        cmocka_unit_test(in_2011_a_free_lock_is_not_taken_past_the_queue),
        cmocka_unit_test(since_2013_writers_steal_a_free_lock),
        cmocka_unit_test(readers_never_pass_the_queue),
        cmocka_unit_test(only_in_2019_a_writer_that_waited_long_is_passed_no_more),
        cmocka_unit_test(only_in_2019_a_reader_that_waited_long_is_passed_no_more),
        cmocka_unit_test(only_in_2019_readers_behind_a_writer_are_woken_with_the_first),
        cmocka_unit_test(nobody_hangs_behind_a_spinner_that_does_not_run),
        cmocka_unit_test(the_line_has_one_first_whoever_leaves),
        cmocka_unit_test(crowds_come_back_and_lose_nothing),
    };
    return cmocka_run_group_tests_name("bench/history", tests, NULL, NULL);
}
