/*
 * When the library waits awake, and for how long: spin.c and slow.c over a made-up operating system
 * with one thread, whose PAUSE takes as long as a case wants, and where a sleep is the moment at
 * which the other one lets go of the lock.
 */
#include "lib/check.h"
#include "lib/os.h"
#include "lib/slow.h"
#include "lib/tunables.h"
#include "rwsem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ME = 101, OTHER = 202, LOOK_NS = 20 };

static rwsem_t sem;
static uint64_t now_ns, pause_ns, spun_ns;
static unsigned cpus, pauses, sleeps;
static bool lock_moves; /* another one gets the lock while we pause */

static void as(uint32_t tid)
{
    rwsem__self_hold = word_write_hold(tid);
}

void os_pause(void)
{
    pauses++;
    now_ns += pause_ns;
    spun_ns += pause_ns;
    if (lock_moves)
        sem.word ^= UINT64_C(1) << 40; /* a writer of another TID */
}

/* The other one lets go, which calls the sleeper. */
int os_futex_wait(uint32_t *word, uint32_t expected, uint64_t until_ns, uint32_t bits,
                  enum os_scope scope)
{
    sleeps++;
    rwsem__release(&sem, sem.word & WORD_WRITE_HOLD, 0);
    return 0;
}

int os_futex_wake(uint32_t *word, int count, uint32_t bits, enum os_scope scope)
{
    return 1;
}

uint64_t os_now_ns(void)
{
    return now_ns += LOOK_NS;
}

uint32_t os_tid(void)
{
    return ME;
}

void os_sleep_ns(uint64_t ns)
{
    now_ns += ns;
}

unsigned os_usable_cpus(uint64_t ns)
{
    return cpus;
}

bool os_is_thread_dead(uint32_t tid)
{
    return false;
}

uint32_t os_thread_birth(uint32_t tid)
{
    return 1;
}

uint32_t os_namespaces(void)
{
    return 1;
}

/* A lock that another thread holds, on a machine of so many CPUs. */
static void setup(unsigned cpu_count, uint64_t pause, bool moves)
{
    /* a new place each time: what was learnt at another lock is not to be known here */
    rwsem_init(&sem, 0);
    cpus = cpu_count;
    pause_ns = pause;
    lock_moves = moves;
    pauses = sleeps = 0;
    spun_ns = 0;
    now_ns += 1000000000;
    as(OTHER);
    assert_int_equal(rwsem_down_write(&sem), 0);
    as(ME);
}

static void wait_once(void)
{
    assert_int_equal(rwsem_down_write(&sem), 0);
    rwsem_up_write(&sem);
    assert_int_equal(sem.word, 0);
    assert_int_equal(sleeps, 1);
}

/* After lost spins a lock is not spun at for some turns; waits them out. */
static void until_it_spins(unsigned cpu_count, uint64_t pause, bool moves)
{
    int i;

    for (i = 0; i < 200; i++) {
        setup(cpu_count, pause, moves);
        wait_once();
        if (pauses)
            return;
    }
    fail_msg("it does not spin at all");
}

static const uint64_t pause_costs_ns[] = {3, 40, 140, 1000, 10000};

/* Between two looks at the clock there are some pauses; 16 leaves the library its choice. */
static uint64_t with_looks(uint64_t limit_ns, uint64_t pause)
{
    return limit_ns + 16 * pause;
}

static void a_spin_is_bounded_by_time_whatever_pause_costs(void **state)
{
    size_t i;

    for (i = 0; i < sizeof(pause_costs_ns) / sizeof(pause_costs_ns[0]); i++) {
        until_it_spins(8, pause_costs_ns[i], true);
        assert_in_range(spun_ns, 1, with_looks(rwsem__tunable.spin_max_ns, pause_costs_ns[i]));
    }
}

static void a_spin_ends_at_a_lock_that_does_not_move(void **state)
{
    size_t i;

    for (i = 0; i < sizeof(pause_costs_ns) / sizeof(pause_costs_ns[0]); i++) {
        until_it_spins(8, pause_costs_ns[i], false);
        assert_in_range(spun_ns, 1, with_looks(rwsem__tunable.spin_ns, pause_costs_ns[i]));
    }
}

static void nobody_spins_with_one_cpu(void **state)
{
    int i;

    for (i = 0; i < 200; i++) {
        setup(1, 40, true);
        wait_once();
        assert_int_equal(pauses, 0);
    }
}

static void nobody_spins_when_those_awake_outnumber_the_cpus(void **state)
{
    int i;

    rwsem__enter_crowd(&sem); /* three others, and the holder, on four CPUs */
    rwsem__enter_crowd(&sem);
    rwsem__enter_crowd(&sem);
    for (i = 0; i < 200; i++) {
        setup(4, 40, true);
        wait_once();
        assert_int_equal(pauses, 0);
    }
    rwsem__leave_crowd(&sem);
    rwsem__leave_crowd(&sem);
    rwsem__leave_crowd(&sem);
    until_it_spins(4, 40, true);
}

static void one_spins_at_most(void **state)
{
    int i;

    for (i = 0; i < 200; i++) {
        setup(8, 40, true);
        sem.word |= WORD_SPINNER; /* another one does */
        assert_int_equal(rwsem_down_write(&sem), 0);
        assert_int_equal(pauses, 0);
        sem.word &= ~WORD_SPINNER;
        rwsem_up_write(&sem);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spin_is_bounded_by_time_whatever_pause_costs),
        cmocka_unit_test(a_spin_ends_at_a_lock_that_does_not_move),
        cmocka_unit_test(nobody_spins_with_one_cpu),
        cmocka_unit_test(nobody_spins_when_those_awake_outnumber_the_cpus),
        cmocka_unit_test(one_spins_at_most),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("spin", tests, NULL, NULL);
}
