/* What each call does, returns and leaves behind, one thread or two, on private and shared locks.
 */
#include "watchdog.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static rwsem_t sem;
static unsigned flags;

static int fresh_private(void **state)
{
    watch_for_hang(&sem, 30);
    flags = 0;
    return rwsem_init(&sem, flags);
}

static int fresh_shared(void **state)
{
    watch_for_hang(&sem, 30);
    flags = RWSEM_SHARED;
    return rwsem_init(&sem, flags);
}

static int is_idle_again(void **state)
{
    rwsem_t idle;

    rwsem_init(&idle, flags);
    return memcmp(&idle, &sem, sizeof(sem)) != 0;
}

/* Calls in another thread, to be joined by its result. */
struct other {
    pthread_t thread;
    int (*call)(void);
    int rc;
};

static void *run_other(void *arg)
{
    struct other *other = arg;

    other->rc = other->call();
    return NULL;
}

static void start(struct other *other, int (*call)(void))
{
    other->call = call;
    assert_int_equal(pthread_create(&other->thread, NULL, run_other, other), 0);
}

static int join(struct other *other)
{
    pthread_join(other->thread, NULL);
    return other->rc;
}

static int elsewhere(int (*call)(void))
{
    struct other other;

    start(&other, call);
    return join(&other);
}

static int try_read(void)
{
    int rc = rwsem_try_down_read(&sem);

    if (!rc)
        rwsem_up_read(&sem);
    return rc;
}

static int try_write(void)
{
    int rc = rwsem_try_down_write(&sem);

    if (!rc)
        rwsem_up_write(&sem);
    return rc;
}

static int read_once(void)
{
    int rc = rwsem_down_read(&sem);

    if (!rc)
        rwsem_up_read(&sem);
    return rc;
}

static int write_once(void)
{
    int rc = rwsem_down_write(&sem);

    if (!rc)
        rwsem_up_write(&sem);
    return rc;
}

static int read_for_20_ms(void)
{
    struct timespec deadline = in_ms(20);

    return rwsem_down_read_until(&sem, &deadline);
}

static int write_for_20_ms(void)
{
    struct timespec deadline = in_ms(20);

    return rwsem_down_write_until(&sem, &deadline);
}

static void readers_share_and_writers_do_not(void **state)
{
    assert_int_equal(rwsem_down_read(&sem), 0);
    assert_int_equal(elsewhere(try_read), 0);
    assert_int_equal(elsewhere(try_write), -EBUSY);
    rwsem_up_read(&sem);
    assert_int_equal(rwsem_down_write(&sem), 0);
    assert_true(rwsem_is_write_held_by_me(&sem));
    assert_int_equal(elsewhere(try_read), -EBUSY);
    assert_int_equal(elsewhere(try_write), -EBUSY);
    rwsem_up_write(&sem);
    assert_false(rwsem_is_locked(&sem));
}

static void writer_waits_for_last_reader(void **state)
{
    struct other writer;

    assert_int_equal(rwsem_down_read(&sem), 0);
    assert_int_equal(rwsem_down_read(&sem), 0);
    start(&writer, write_once);
    until_contended(&sem);
    rwsem_up_read(&sem);
    assert_true(rwsem_is_locked(&sem));
    rwsem_up_read(&sem);
    assert_int_equal(join(&writer), 0);
}

static void readers_wait_for_the_writer(void **state)
{
    struct other readers[3];
    int i;

    assert_int_equal(rwsem_down_write(&sem), 0);
    for (i = 0; i < 3; i++)
        start(&readers[i], read_once);
    until_contended(&sem);
    rwsem_up_write(&sem);
    for (i = 0; i < 3; i++)
        assert_int_equal(join(&readers[i]), 0);
}

static void timed_waits_end_and_leave_nothing(void **state)
{
    uint64_t began = clock_ns();

    assert_int_equal(rwsem_down_write(&sem), 0);
    assert_int_equal(elsewhere(read_for_20_ms), -ETIMEDOUT);
    assert_int_equal(elsewhere(write_for_20_ms), -ETIMEDOUT);
    assert_true(clock_ns() - began >= 40000000);
    rwsem_up_write(&sem);
}

static void a_free_lock_is_taken_whatever_the_deadline(void **state)
{
    struct timespec past = {0, 0}, bad = {0, 1000000000};

    assert_int_equal(rwsem_down_read_until(&sem, &past), 0);
    assert_int_equal(rwsem_down_write_until(&sem, &past), -ETIMEDOUT);
    assert_int_equal(rwsem_down_write_until(&sem, &bad), -EINVAL);
    bad.tv_nsec = -1;
    assert_int_equal(rwsem_down_write_until(&sem, &bad), -EINVAL);
    rwsem_up_read(&sem);
    assert_int_equal(rwsem_down_write_until(&sem, &bad), 0);
    rwsem_up_write(&sem);
}

static void downgrade_lets_readers_in_and_keeps_writers_out(void **state)
{
    struct other reader;

    assert_int_equal(rwsem_down_write(&sem), 0);
    start(&reader, read_once);
    until_contended(&sem);
    rwsem_downgrade_write(&sem);
    assert_int_equal(join(&reader), 0);
    assert_int_equal(elsewhere(try_write), -EBUSY);
    rwsem_up_read(&sem);
}

static void upgrade_is_for_the_only_reader(void **state)
{
    assert_int_equal(rwsem_down_read(&sem), 0);
    assert_int_equal(rwsem_down_read(&sem), 0);
    assert_int_equal(rwsem_try_upgrade(&sem), -EBUSY);
    rwsem_up_read(&sem);
    assert_int_equal(rwsem_try_upgrade(&sem), 0);
    assert_true(rwsem_is_write_held_by_me(&sem));
    rwsem_up_write(&sem);
}

static void on_usr1(int number)
{
}

/* Interrupts the waiter until it has noticed: a signal before its sleep does not count. */
static void interruptible(int (*call)(void), int sa_flags)
{
    struct sigaction action = {.sa_handler = on_usr1, .sa_flags = sa_flags};
    struct timespec moment = {0, 1000000};
    struct other other;

    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(rwsem_down_write(&sem), 0);
    start(&other, call);
    until_contended(&sem);
    while (rwsem_is_contended(&sem) && pthread_kill(other.thread, SIGUSR1) == 0)
        nanosleep(&moment, NULL);
    assert_int_equal(join(&other), -EINTR);
    rwsem_up_write(&sem);
}

static int read_interruptible(void)
{
    return rwsem_down_read_interruptible(&sem);
}

static int write_interruptible(void)
{
    return rwsem_down_write_interruptible(&sem);
}

static void a_handler_ends_an_interruptible_wait(void **state)
{
    interruptible(read_interruptible, 0);
    interruptible(write_interruptible, SA_RESTART);
}

static void a_handler_does_not_end_other_waits(void **state)
{
    struct sigaction action = {.sa_handler = on_usr1};
    struct other other;
    int i;

    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(rwsem_down_write(&sem), 0);
    start(&other, write_once);
    until_contended(&sem);
    for (i = 0; i < 20; i++)
        pthread_kill(other.thread, SIGUSR1);
    rwsem_up_write(&sem);
    assert_int_equal(join(&other), 0);
}

static void calls_leave_errno_alone(void **state)
{
    errno = 4711;
    assert_int_equal(rwsem_down_write(&sem), 0);
    assert_int_equal(write_for_20_ms(), -ETIMEDOUT);
    rwsem_up_write(&sem);
    assert_int_equal(errno, 4711);
}

static void init_refuses_what_it_does_not_know(void **state)
{
    rwsem_t other = RWSEM_INIT;

    assert_int_equal(rwsem_init(&other, 1u << 20), -EINVAL);
    assert_int_equal(rwsem_init(&other, RWSEM_SHARED | RWSEM_WATCHED), -EINVAL);
    assert_int_equal(other.word, 0);
}

static void destroy_refuses_a_held_lock(void **state)
{
    assert_int_equal(rwsem_down_read(&sem), 0);
    assert_int_equal(rwsem_destroy(&sem), -EBUSY);
    rwsem_up_read(&sem);
    assert_int_equal(rwsem_destroy(&sem), 0);
}

static void more_readers_than_can_be_counted_are_refused(void **state)
{
    uint64_t word = sem.word;

    sem.word = word | UINT64_C(0x7ffffffe) << 32; /* as many calls would have left it */
    assert_int_equal(rwsem_down_read(&sem), 0);
    assert_int_equal(rwsem_down_read(&sem), -EAGAIN);
    assert_int_equal(rwsem_try_down_read(&sem), -EAGAIN);
    rwsem_up_read(&sem);
    assert_int_equal(rwsem_down_read(&sem), 0);
    rwsem_up_read(&sem);
    sem.word = word;
}

static int guarded(bool is_early)
{
    RWSEM_WRITE_SCOPE(&sem);

    if (is_early)
        return rwsem_is_write_held_by_me(&sem);
    {
        return 2;
    }
}

static void a_scope_guard_lets_go_on_every_way_out(void **state)
{
    assert_int_equal(guarded(true), 1);
    assert_false(rwsem_is_locked(&sem));
    assert_int_equal(guarded(false), 2);
    assert_false(rwsem_is_locked(&sem));
}

static int read_twice(void)
{
    int rc = rwsem_down_read(&sem);
    struct timespec moment = {0,
                              10000000}; /* longer than the bound, so that the lock is reserved */

    until_contended(&sem);
    nanosleep(&moment, NULL);
    rc = rc ? rc : rwsem_down_read(&sem);
    rwsem_up_read(&sem);
    rwsem_up_read(&sem);
    return rc;
}

static void recursive_readers_pass_a_waiting_writer(void **state)
{
    struct other reader, writer;

    flags |= RWSEM_RECURSIVE_READ;
    rwsem_init(&sem, flags);
    start(&reader, read_twice);
    while (!rwsem_is_locked(&sem))
        ;
    start(&writer, write_once);
    assert_int_equal(join(&reader), 0);
    assert_int_equal(join(&writer), 0);
}

static void new_readers_do_not_pass_a_writer_beyond_the_bound(void **state)
{
    struct timespec moment = {0, 1000000};
    struct other writer;
    int rc, tries;

    assert_int_equal(rwsem_down_read(&sem), 0);
    start(&writer, write_once);
    until_contended(&sem);
    for (tries = 0; tries < 5000; tries++) {
        rc = elsewhere(try_read);
        if (rc == -EBUSY)
            break;
        nanosleep(&moment, NULL);
    }
    assert_int_equal(rc, -EBUSY);
    rwsem_up_read(&sem);
    assert_int_equal(join(&writer), 0);
}

static void fast_paths_are_symbols_too(void **state)
{
    int (*volatile down)(rwsem_t *) = rwsem_down_write;
    void (*volatile up)(rwsem_t *) = rwsem_up_write;

    assert_int_equal(down(&sem), 0);
    assert_true(rwsem_is_write_held_by_me(&sem));
    up(&sem);
}

#define PRIVATE(f) cmocka_unit_test_setup_teardown(f, fresh_private, is_idle_again)
#define SHARED(f)                                                                                  \
    {                                                                                              \
        "shared: " #f, f, fresh_shared, is_idle_again, NULL                                        \
    }
#define BOTH(f) PRIVATE(f), SHARED(f)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOTH(readers_share_and_writers_do_not),
        BOTH(writer_waits_for_last_reader),
        BOTH(readers_wait_for_the_writer),
        BOTH(timed_waits_end_and_leave_nothing),
        BOTH(a_free_lock_is_taken_whatever_the_deadline),
        BOTH(downgrade_lets_readers_in_and_keeps_writers_out),
        BOTH(upgrade_is_for_the_only_reader),
        BOTH(a_handler_ends_an_interruptible_wait),
        BOTH(a_handler_does_not_end_other_waits),
        BOTH(calls_leave_errno_alone),
        BOTH(destroy_refuses_a_held_lock),
        BOTH(more_readers_than_can_be_counted_are_refused),
        BOTH(recursive_readers_pass_a_waiting_writer),
        BOTH(new_readers_do_not_pass_a_writer_beyond_the_bound),
        PRIVATE(init_refuses_what_it_does_not_know),
        PRIVATE(a_scope_guard_lets_go_on_every_way_out),
        PRIVATE(fast_paths_are_symbols_too),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
