/*
 * Switch costs: every kind is measured as it says, and nothing that may happen meanwhile hangs the
 * caller, leaves a process behind or moves it to other CPUs: one CPU only, no permission to pin, an
 * interruption, a killed child, a killed parent.
 *
 * The linker puts the functions named __wrap_... between bench/ and libc (see meson.build).
 */
#include "bench/crew.h"
#include "bench/switch.h"
#include "result/cpus.h"
#include "tests/bench/test.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3, STEPS = 200, MANY_STEPS = 100000000 };

/* What is to happen when a call is made for the `at`th time in process `in`. */
static struct {
    pid_t in;
    _Atomic int fork_at, write_at, yield_at, futex_at;
    void (*act)(void);
    bool child_keeps_pipes; /* so that it never sees an end of file */
    int refused_cpu;        /* pinning to it fails; -1: to any; -2: to none */
} trap;

static pid_t last_child;

static void spring(_Atomic int *counter)
{
    /* System calls of both threads come here. getpid: a forked child has the trap, too. */
    if (trap.in == getpid() && atomic_fetch_sub(counter, 1) == 1)
        trap.act();
}

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void)
{
    pid_t pid = __real_fork();
    if (pid > 0) {
        last_child = pid;
        spring(&trap.fork_at);
    }
    return pid;
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    spring(&trap.write_at);
    return __real_write(fd, data, size);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    return trap.child_keeps_pipes && trap.in != getpid() ? 0 : __real_close(fd);
}

int __real_sched_yield(void);
int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
    spring(&trap.yield_at);
    return __real_sched_yield();
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list list;
    long a[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex)
        spring(&trap.futex_at);
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int __real_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    int refused = trap.refused_cpu;
    if (refused == -1 || (refused >= 0 && CPU_ISSET_S((size_t)refused, bytes, set)))
        return EPERM;
    return __real_pthread_setaffinity_np(thread, bytes, set);
}

static int disarm(void **state)
{
    memset(&trap, 0, sizeof trap);
    trap.refused_cpu = -2;
    last_child = 0;
    return 0;
}

static void arm(_Atomic int *counter, int at, void (*act)(void))
{
    trap.in = getpid();
    trap.act = act;
    atomic_store(counter, at);
}

static unsigned allowed_cpus(int *first)
{
    struct cpus *cpus = calloc(1, sizeof *cpus);

    assert_non_null(cpus);
    cpus_read(cpus);
    unsigned allowed = cpus->allowed;
    *first = cpus->list[0];
    free(cpus);
    return allowed;
}

static void need_two_cpus(void)
{
    int first;
    if (allowed_cpus(&first) < 2)
        skip_because("needs two CPUs");
}

static bool needs_two_cpus(int kind)
{
    return kind == SWITCH_FUTEX_TWO_CPUS || kind == SWITCH_PIPE_TWO_CPUS;
}

static bool has_child(int kind)
{
    return kind == SWITCH_PIPE_ONE_CPU || kind == SWITCH_PIPE_TWO_CPUS;
}

static void assert_no_child_is_left(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* Runs `body` in a process of its own, which cmocka's asserts must not be used in; its status. */
static int in_a_process(int (*body)(void))
{
    int status;
    pid_t pid = __real_fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(body());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void every_kind_is_measured_in_as_many_rounds_and_steps_as_asked(void **state)
{
    int first;
    unsigned allowed = allowed_cpus(&first);

    for (int kind = 0; kind < SWITCH_KINDS; kind++) {
        struct switch_cost cost;
        double samples[ROUNDS];
        if (needs_two_cpus(kind) && allowed < 2)
            continue; /* the next test has that case */
        assert_int_equal(switch_measure((enum switch_kind)kind, ROUNDS, STEPS, &cost), 0);
        assert_string_equal(cost.why_not, "");
        assert_true(cost.was_measured);
        assert_int_equal(cost.rounds, ROUNDS);
        assert_int_equal(cost.steps, STEPS);
        for (int i = 0; i < ROUNDS; i++) {
            assert_true(cost.elapsed_ns[i] > 0);
            samples[i] = (double)cost.elapsed_ns[i] / STEPS;
        }
        qsort(samples, ROUNDS, sizeof *samples, compare_doubles);
        assert_near(cost.step_ns, samples[ROUNDS / 2], 1e-9 * cost.step_ns);
    }
    assert_no_child_is_left();
}

/* On one CPU, who hands over has to leave the CPU: no step goes without a switch. */
static void a_step_on_one_cpu_is_a_switch_that_the_kernel_counted(void **state)
{
    static const enum switch_kind on_one_cpu[] = {SWITCH_FUTEX_ONE_CPU, SWITCH_PIPE_ONE_CPU};

    for (int i = 0; i < 2; i++) {
        struct switch_cost cost;
        assert_int_equal(switch_measure(on_one_cpu[i], ROUNDS, STEPS, &cost), 0);
        assert_true(cost.switches >= (uint64_t)ROUNDS * (STEPS - 2));
    }
}

static void odd_and_absurd_counts_are_put_right(void **state)
{
    struct switch_cost cost;

    assert_int_equal(switch_measure(SWITCH_FUTEX_ONE_CPU, SWITCH_ROUNDS_MAX + 5, 7, &cost), 0);
    assert_int_equal(cost.rounds, SWITCH_ROUNDS_MAX);
    assert_int_equal(cost.steps, 6);
    assert_int_equal(switch_measure(SWITCH_FUTEX_ONE_CPU, 0, 0, &cost), 0);
    assert_int_equal(cost.rounds, 1);
    assert_int_equal(cost.steps, 2);
}

static void kinds_have_names_of_their_own(void **state)
{
    for (int a = 0; a < SWITCH_KINDS; a++) {
        assert_true(strlen(switch_about((enum switch_kind)a)) > 0);
        for (int b = 0; b < a; b++)
            assert_string_not_equal(switch_name((enum switch_kind)a),
                                    switch_name((enum switch_kind)b));
    }
}

static int measure_on_one_cpu(void)
{
    int first;
    allowed_cpus(&first);
    size_t bytes = CPU_ALLOC_SIZE(first + 1);
    cpu_set_t *set = CPU_ALLOC(first + 1);

    if (!set)
        return 1;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S((size_t)first, bytes, set);
    int failed = sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
    if (failed)
        return 2;
    for (int kind = 0; kind < SWITCH_KINDS; kind++) {
        struct switch_cost cost;
        if (switch_measure((enum switch_kind)kind, 1, STEPS, &cost))
            return 3;
        if (cost.was_measured == needs_two_cpus(kind))
            return 4;
        if (needs_two_cpus(kind) && strcmp(cost.why_not, "only one CPU may be used"))
            return 5;
    }
    return 0;
}

static void with_one_cpu_the_kinds_that_need_two_say_so(void **state)
{
    assert_int_equal(in_a_process(measure_on_one_cpu), 0);
}

static void where_pinning_is_refused_nothing_is_measured_and_that_is_said(void **state)
{
    int first;
    unsigned allowed = allowed_cpus(&first);

    trap.refused_cpu = -1;
    for (int kind = 0; kind < SWITCH_KINDS; kind++) {
        struct switch_cost cost;
        if (needs_two_cpus(kind) && allowed < 2)
            continue;
        assert_int_equal(switch_measure((enum switch_kind)kind, 1, STEPS, &cost), 0);
        assert_false(cost.was_measured);
        assert_non_null(strstr(cost.why_not, "pinned"));
    }
    assert_no_child_is_left();
}

/* The side on the other CPU is there and waits for its turn: it must not wait for ever. */
static void a_side_that_cannot_enter_does_not_hang_the_other(void **state)
{
    struct switch_cost cost;
    int first;

    need_two_cpus();
    allowed_cpus(&first);
    trap.refused_cpu = first;
    assert_int_equal(switch_measure(SWITCH_FUTEX_TWO_CPUS, 1, STEPS, &cost), 0);
    assert_false(cost.was_measured);
    assert_int_equal(switch_measure(SWITCH_PIPE_TWO_CPUS, 1, STEPS, &cost), 0);
    assert_false(cost.was_measured);
    assert_no_child_is_left();
}

static void the_callers_cpus_stay_as_they_were(void **state)
{
    cpu_set_t before, after;

    if (sched_getaffinity(0, sizeof before, &before))
        skip_because("more CPUs than a cpu_set_t has");
    for (int kind = 0; kind < SWITCH_KINDS; kind++) {
        struct switch_cost cost;
        assert_int_equal(switch_measure((enum switch_kind)kind, 1, STEPS, &cost), 0);
        assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
        assert_true(CPU_EQUAL(&before, &after));
    }
}

static void kill_child(void)
{
    kill(last_child, SIGKILL);
}

static void a_child_killed_in_the_third_round_leaves_two(void **state)
{
    struct switch_cost cost;

    /* The parent writes every second step. */
    arm(&trap.write_at, STEPS + STEPS / 4, kill_child);
    assert_int_equal(switch_measure(SWITCH_PIPE_ONE_CPU, ROUNDS, STEPS, &cost), 0);
    assert_true(cost.was_measured);
    assert_int_equal(cost.rounds, 2);
    assert_no_child_is_left();
}

static void a_child_killed_at_once_is_told(void **state)
{
    struct switch_cost cost;

    arm(&trap.fork_at, 1, kill_child);
    assert_int_equal(switch_measure(SWITCH_PIPE_ONE_CPU, ROUNDS, STEPS, &cost), 0);
    assert_false(cost.was_measured);
    assert_string_equal(cost.why_not, "the other process ended too early");
    assert_no_child_is_left();
}

static void interrupt(void)
{
    bench_interrupt(SIGINT);
}

/* In a process of its own: an interruption lasts. */
static int interrupted(enum switch_kind kind, _Atomic int *counter)
{
    struct switch_cost cost;

    arm(counter, 1000, interrupt);
    if (switch_measure(kind, 1, MANY_STEPS, &cost))
        return 1;
    if (cost.was_measured || strcmp(cost.why_not, "interrupted"))
        return 2;
    return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 3;
}

static int interrupted_yield(void)
{
    return interrupted(SWITCH_YIELD, &trap.yield_at);
}

static int interrupted_futex(void)
{
    return interrupted(SWITCH_FUTEX_ONE_CPU, &trap.futex_at);
}

static int interrupted_pipe(void)
{
    return interrupted(SWITCH_PIPE_ONE_CPU, &trap.write_at);
}

static int interrupted_in_the_second_round(void)
{
    struct switch_cost cost;

    arm(&trap.write_at, STEPS / 2 + 5, interrupt);
    if (switch_measure(SWITCH_PIPE_ONE_CPU, ROUNDS, STEPS, &cost))
        return 1;
    return cost.was_measured && cost.rounds == 1 ? 0 : 2;
}

static void an_interruption_ends_a_long_round(void **state)
{
    assert_int_equal(in_a_process(interrupted_yield), 0);
    assert_int_equal(in_a_process(interrupted_futex), 0);
    assert_int_equal(in_a_process(interrupted_pipe), 0);
}

static void an_interruption_keeps_the_rounds_that_were_whole(void **state)
{
    assert_int_equal(in_a_process(interrupted_in_the_second_round), 0);
}

static int tell_child; /* a pipe's end */

static void tell_and_die(void)
{
    if (__real_write(tell_child, &last_child, sizeof last_child) == sizeof last_child)
        raise(SIGKILL);
    _exit(1);
}

static int measured_and_killed(void)
{
    struct switch_cost cost;

    arm(&trap.write_at, 1000, tell_and_die);
    switch_measure(SWITCH_PIPE_ONE_CPU, 1, MANY_STEPS, &cost);
    return 2;
}

/* Kills a measuring process; the orphan becomes ours, and waiting for it ends when it does. */
static int status_of_the_orphan(void)
{
    int pair[2], status;
    pid_t orphan = 0;

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    tell_child = pair[1];
    status = in_a_process(measured_and_killed);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(read(pair[0], &orphan, sizeof orphan), sizeof orphan);
    __real_close(pair[0]);
    __real_close(pair[1]);
    assert_true(orphan > 0);
    assert_int_equal(waitpid(orphan, &status, 0), orphan);
    assert_no_child_is_left();
    return status;
}

static void a_killed_parent_takes_its_child_along(void **state)
{
    status_of_the_orphan();
}

static void it_does_so_even_if_the_child_never_sees_an_end_of_file(void **state)
{
    trap.child_keeps_pipes = true;
    int status = status_of_the_orphan();
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void only_kinds_of_processes_have_a_child(void **state)
{
    for (int kind = 0; kind < SWITCH_KINDS; kind++) {
        struct switch_cost cost;
        last_child = 0;
        assert_int_equal(switch_measure((enum switch_kind)kind, 1, STEPS, &cost), 0);
        if (cost.was_measured)
            assert_int_equal(last_child > 0, has_child(kind));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_kind_is_measured_in_as_many_rounds_and_steps_as_asked, disarm),
        cmocka_unit_test_setup(a_step_on_one_cpu_is_a_switch_that_the_kernel_counted, disarm),
        cmocka_unit_test_setup(odd_and_absurd_counts_are_put_right, disarm),
        cmocka_unit_test_setup(kinds_have_names_of_their_own, disarm),
        cmocka_unit_test_setup(with_one_cpu_the_kinds_that_need_two_say_so, disarm),
        cmocka_unit_test_setup(where_pinning_is_refused_nothing_is_measured_and_that_is_said,
                               disarm),
        cmocka_unit_test_setup(a_side_that_cannot_enter_does_not_hang_the_other, disarm),
        cmocka_unit_test_setup(the_callers_cpus_stay_as_they_were, disarm),
        cmocka_unit_test_setup(a_child_killed_in_the_third_round_leaves_two, disarm),
        cmocka_unit_test_setup(a_child_killed_at_once_is_told, disarm),
        cmocka_unit_test_setup(an_interruption_ends_a_long_round, disarm),
        cmocka_unit_test_setup(an_interruption_keeps_the_rounds_that_were_whole, disarm),
        cmocka_unit_test_setup(a_killed_parent_takes_its_child_along, disarm),
        cmocka_unit_test_setup(it_does_so_even_if_the_child_never_sees_an_end_of_file, disarm),
        cmocka_unit_test_setup(only_kinds_of_processes_have_a_child, disarm),
    };
    return cmocka_run_group_tests_name("bench/switch", tests, NULL, NULL);
}
