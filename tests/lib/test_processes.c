/* Locks between processes: killed holders and waiters, addresses, fork. */
#include "watchdog.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

struct page {
    rwsem_t sem;
    uint32_t step; /* how far the other process has come */
};

static struct page *page;

static int map(void **state)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    watch_for_hang(&page->sem, 30);
    return rwsem_init(&page->sem, RWSEM_SHARED);
}

static int unmap(void **state)
{
    return munmap(page, 4096);
}

static void reach(uint32_t step)
{
    __atomic_store_n(&page->step, step, __ATOMIC_RELEASE);
}

static void until_reached(uint32_t step)
{
    struct timespec moment = {0, 100000};

    while (__atomic_load_n(&page->step, __ATOMIC_ACQUIRE) < step)
        nanosleep(&moment, NULL);
}

/* A child that does `job` and then waits to be killed. */
static pid_t child(void (*job)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing test must not leave it behind */
        job();
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

static void kill_child(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void take_to_write(void)
{
    if (rwsem_down_write(&page->sem) == 0)
        reach(1);
}

static void wait_to_write(void)
{
    reach(1);
    (void)rwsem_down_write(&page->sem);
}

static void wait_to_read(void)
{
    reach(1);
    (void)rwsem_down_read(&page->sem);
}

static void a_killed_writer_is_reported_to_the_next_taker(void **state)
{
    pid_t pid = child(take_to_write);

    until_reached(1);
    assert_int_equal(rwsem_try_down_write(&page->sem), -EBUSY);
    kill_child(pid);
    assert_int_equal(rwsem_down_write(&page->sem), -EOWNERDEAD);
    assert_true(rwsem_is_write_held_by_me(&page->sem));
    assert_int_equal(rwsem_consistent(&page->sem), 0);
    rwsem_up_write(&page->sem);
    assert_int_equal(rwsem_down_read(&page->sem), 0);
    rwsem_up_read(&page->sem);
}

static void a_killed_writer_not_yet_waited_for_counts_as_dead(void **state)
{
    pid_t pid = child(take_to_write);

    until_reached(1);
    kill(pid, SIGKILL);
    assert_int_equal(rwsem_down_read(&page->sem), -EOWNERDEAD); /* it is a zombie meanwhile */
    assert_true(rwsem_is_write_held_by_me(&page->sem));
    assert_int_equal(rwsem_consistent(&page->sem), 0);
    rwsem_downgrade_write(&page->sem);
    rwsem_up_read(&page->sem);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(rwsem_try_down_write(&page->sem), 0);
    rwsem_up_write(&page->sem);
}

static void a_try_finds_the_dead_writer_too(void **state)
{
    pid_t pid = child(take_to_write);

    until_reached(1);
    kill_child(pid);
    assert_int_equal(rwsem_try_down_read(&page->sem), -EOWNERDEAD);
    assert_int_equal(rwsem_consistent(&page->sem), 0);
    rwsem_up_write(&page->sem);
}

/* Waits that end before it is time to look after the writer are no way round finding it. */
static void short_deadlines_find_the_dead_writer_too(void **state)
{
    pid_t pid = child(take_to_write);
    struct timespec deadline;

    until_reached(1);
    kill_child(pid);
    deadline = in_ms(5);
    assert_int_equal(rwsem_down_write_until(&page->sem, &deadline), -EOWNERDEAD);
    assert_int_equal(rwsem_consistent(&page->sem), 0);
    rwsem_up_write(&page->sem);
}

/* What one that waited too long has reserved is not lost with it, even for those that only try. */
static void a_killed_waiter_does_not_keep_the_lock_from_tries(void **state)
{
    pid_t pid;
    int i;

    assert_int_equal(rwsem_down_write(&page->sem), 0);
    pid = child(wait_to_write);
    until_reached(1);
    while (!(page->sem.word & 0x10)) /* HANDOFF */
        usleep(1000);
    kill_child(pid);
    rwsem_up_write(&page->sem);
    for (i = 0; i < 10000 && rwsem_try_down_write(&page->sem); i++)
        usleep(100);
    assert_true(i < 10000);
    rwsem_up_write(&page->sem);
}

/* The TID of a writer in another PID namespace may be that of nobody here. */
static void a_writer_of_other_namespaces_is_not_taken_for_dead(void **state)
{
    struct timespec deadline = in_ms(5);
    pid_t pid = child(take_to_write);

    until_reached(1);
    kill_child(pid);
    page->sem.word ^= UINT64_C(1) << 20; /* in the slot, where its namespaces are */
    page->sem.extra = 0;
    assert_int_equal(rwsem_try_down_write(&page->sem), -EBUSY);
    assert_int_equal(rwsem_down_read_until(&page->sem, &deadline), -ETIMEDOUT);
}

static void a_lost_lock_is_not_upgraded(void **state)
{
    pid_t pid = child(take_to_write);

    until_reached(1);
    kill_child(pid);
    assert_int_equal(rwsem_down_read(&page->sem), -EOWNERDEAD);
    rwsem_downgrade_write(&page->sem);
    assert_int_equal(rwsem_try_upgrade(&page->sem), -ENOTRECOVERABLE);
    rwsem_up_read(&page->sem);
}

static void a_lock_given_up_unrepaired_is_lost(void **state)
{
    pid_t pid = child(take_to_write);

    until_reached(1);
    kill_child(pid);
    assert_int_equal(rwsem_down_write(&page->sem), -EOWNERDEAD);
    rwsem_up_write(&page->sem);
    assert_int_equal(rwsem_down_write(&page->sem), -ENOTRECOVERABLE);
    assert_int_equal(rwsem_down_read(&page->sem), -ENOTRECOVERABLE);
    assert_int_equal(rwsem_consistent(&page->sem), -EINVAL);
}

static void a_living_writer_is_not_taken_for_dead(void **state)
{
    pid_t pid = child(take_to_write);
    struct timespec deadline;

    until_reached(1);
    deadline = in_ms(150); /* long enough for two looks at the owner */
    assert_int_equal(rwsem_down_write_until(&page->sem, &deadline), -ETIMEDOUT);
    kill_child(pid);
    assert_int_equal(rwsem_down_write(&page->sem), -EOWNERDEAD);
}

/* The lock's mark says that the writer was born at another time than the thread that has its TID.
 */
static void a_reused_tid_is_not_taken_for_the_writer(void **state)
{
    pid_t pid = child(take_to_write);

    until_reached(1);
    page->sem.extra ^= 1; /* as if a thread of that number had been started later */
    assert_int_equal(rwsem_down_write(&page->sem), -EOWNERDEAD);
    assert_int_equal(rwsem_consistent(&page->sem), 0);
    rwsem_up_write(&page->sem);
    kill_child(pid);
}

static void killed_waiters_strand_nobody(void **state)
{
    pid_t writer, reader;

    assert_int_equal(rwsem_down_write(&page->sem), 0);
    writer = child(wait_to_write);
    until_contended(&page->sem);
    reader = child(wait_to_read);
    kill_child(writer);
    kill_child(reader);
    rwsem_up_write(&page->sem);
    assert_int_equal(rwsem_down_write(&page->sem), 0);
    rwsem_up_write(&page->sem);
    assert_int_equal(rwsem_down_read(&page->sem), 0);
    rwsem_up_read(&page->sem);
}

static void the_address_may_differ(void **state)
{
    struct page *again = mremap(page, 0, 4096, MREMAP_MAYMOVE); /* a second mapping of it */

    assert_ptr_not_equal(again, MAP_FAILED);
    assert_ptr_not_equal(again, page);
    assert_int_equal(rwsem_down_write(&page->sem), 0);
    assert_int_equal(rwsem_try_down_read(&again->sem), -EBUSY);
    rwsem_up_write(&again->sem);
    assert_int_equal(rwsem_down_read(&page->sem), 0);
    rwsem_up_read(&page->sem);
    munmap(again, 4096);
}

static rwsem_t private_lock = RWSEM_INIT;

static int status_of(pid_t pid)
{
    int status = -1;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_child_has_its_own_tid(void **state)
{
    pid_t pid;

    assert_int_equal(rwsem_down_write(&private_lock), 0); /* so that the TID is known */
    rwsem_up_write(&private_lock);
    pid = fork();
    if (pid == 0) {
        bool is_right = rwsem_down_write(&private_lock) == 0 &&
                        rwsem_owner(&private_lock) == (uint32_t)getpid();

        rwsem_up_write(&private_lock);
        _exit(is_right && !rwsem_is_locked(&private_lock) ? 0 : 1);
    }
    assert_int_equal(status_of(pid), 0);
}

static void a_child_can_release_what_the_forking_thread_held(void **state)
{
    pid_t pid;

    assert_int_equal(rwsem_down_write(&private_lock), 0);
    pid = fork();
    if (pid == 0) {
        rwsem_up_write(&private_lock);
        _exit(rwsem_try_down_read(&private_lock) == 0 ? 0 : 1);
    }
    assert_int_equal(status_of(pid), 0);
    assert_true(rwsem_is_write_held_by_me(&private_lock));
    rwsem_up_write(&private_lock);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, map, unmap)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CASE(a_killed_writer_is_reported_to_the_next_taker),
        CASE(a_killed_writer_not_yet_waited_for_counts_as_dead),
        CASE(a_try_finds_the_dead_writer_too),
        CASE(short_deadlines_find_the_dead_writer_too),
        CASE(a_killed_waiter_does_not_keep_the_lock_from_tries),
        CASE(a_writer_of_other_namespaces_is_not_taken_for_dead),
        CASE(a_lost_lock_is_not_upgraded),
        CASE(a_lock_given_up_unrepaired_is_lost),
        CASE(a_living_writer_is_not_taken_for_dead),
        CASE(a_reused_tid_is_not_taken_for_the_writer),
        CASE(killed_waiters_strand_nobody),
        CASE(the_address_may_differ),
        cmocka_unit_test(a_child_has_its_own_tid),
        cmocka_unit_test(a_child_can_release_what_the_forking_thread_held),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}
