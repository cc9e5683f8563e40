/*
 * `rwsem bench lock` against locks that are wrong: what does not exclude is caught in a run of
 * default length, what hangs or crashes is told as such, and the others have their figures.
 */
#include "bench/crew.h"
#include "bench/lock.h"
#include "peers/body.h"
#include "result/config.h"
#include "tests/bench/test.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A mutex, and what each of the wrong locks leaves out of it. */
struct lock {
    pthread_mutex_t mutex;
    unsigned long taken;
};

static void take(void *lock)
{
    pthread_mutex_lock(lock);
}

static void give(void *lock)
{
    pthread_mutex_unlock(lock);
}

static void nothing(void *lock)
{
    (void)lock;
}

static void take_or_hang(void *lock)
{
    take(lock);
    if (++((struct lock *)lock)->taken == 1000)
        for (;;)
            pause();
}

static void take_or_die(void *lock)
{
    take(lock);
    if (++((struct lock *)lock)->taken == 1000)
        kill(getpid(), SIGKILL); /* not SIGSEGV, of which sanitizers make something else */
}

PEER_WORK(no_exclusion, nothing, nothing, nothing, nothing)
PEER_WORK(readers_beside_writers, nothing, nothing, take, give)
PEER_WORK(writers_as_readers, take, give, nothing, nothing)
PEER_WORK(hangs, take_or_hang, give, take_or_hang, give)
PEER_WORK(dies, take_or_die, give, take_or_die, give)

#define WRONG(id)                                                                                  \
    {                                                                                              \
        .name = #id, .size = sizeof(struct lock), .down_write = take, .up_write = give, .work = id \
    }

static const struct peer wrong_locks[] = {WRONG(no_exclusion), WRONG(readers_beside_writers),
                                          WRONG(writers_as_readers)};
static const struct peer hanging_lock = WRONG(hangs), dying_lock = WRONG(dies);

/* A case of the default grid's kind, at its length. */
static struct lock_plan plan_of(const struct peer *lock)
{
    return (struct lock_plan){
        .locks = {lock, peer_find("mutex")},
        .lock_count = 2,
        .cases = {{.preset = "custom", .threads = 4, .write_share = 0.5, .inside_ns = 50}},
        .case_count = 1,
        .cell_ns = 400000000,
        .patience_ns = 300000000,
        .rounds = 10,
        .seed = 1,
    };
}

static const struct lock_variant *run(const struct lock_plan *plan, struct lock_record *record)
{
    assert_int_equal(bench_lock_run(plan, record, NULL, NULL), 0);
    return record->cells[0].variants;
}

static void assert_the_other_ran(const struct lock_variant *variants)
{
    assert_int_equal(variants[1].series.status, OUTCOME_OK);
    assert_int_equal(variants[1].series.rounds_run, 10);
    assert_true(variants[1].series.summary.rate_per_second > 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void each_lock_that_does_not_exclude_is_caught(void **state)
{
    if (strstr(RWSEM_SANITIZERS, "thread"))
        skip_because("the thread sanitizer would rightly report the races that are made here");
    for (size_t i = 0; i < sizeof wrong_locks / sizeof wrong_locks[0]; i++) {
        struct lock_plan plan = plan_of(&wrong_locks[i]);
        struct lock_record record;
        const struct lock_variant *variants = run(&plan, &record);
        print_message("# %s: %s\n", wrong_locks[i].name, variants[0].series.note);
        assert_int_equal(variants[0].series.status, OUTCOME_FAILED);
        assert_non_null(strstr(variants[0].series.note, "does not exclude"));
        assert_the_other_ran(variants);
        lock_record_free(&record);
    }
}

static void a_lock_that_hangs_is_told_and_the_run_goes_on(void **state)
{
    struct lock_plan plan = plan_of(&hanging_lock);
    struct lock_record record;
    const struct lock_variant *variants = run(&plan, &record);

    assert_int_equal(variants[0].series.status, OUTCOME_HUNG);
    assert_int_equal(variants[0].series.rounds_run, 1);
    assert_non_null(strstr(variants[0].series.note, "still waiting"));
    assert_the_other_ran(variants);
    lock_record_free(&record);
}

static void a_lock_that_crashes_is_told_and_the_run_goes_on(void **state)
{
    struct lock_plan plan = plan_of(&dying_lock);
    struct lock_record record;
    const struct lock_variant *variants = run(&plan, &record);

    assert_int_equal(variants[0].series.status, OUTCOME_FAILED);
    assert_non_null(strstr(variants[0].series.note, "signal 9"));
    assert_the_other_ran(variants);
    lock_record_free(&record);
}

/* In a process of its own, because the interruption stays; its status says how it went. */
static void run_and_be_interrupted(void)
{
    struct lock_plan plan = plan_of(&hanging_lock);
    struct lock_record record;

    signal(SIGALRM, bench_interrupt);
    plan.patience_ns = 3600000000000;
    alarm(1);
    if (bench_lock_run(&plan, &record, NULL, NULL))
        _exit(1);
    if (record.interrupted_by != SIGALRM)
        _exit(2);
    _exit(record.cells[0].variants[0].series.status == OUTCOME_INTERRUPTED ||
                  record.cells[0].variants[0].series.status == OUTCOME_NOT_RUN
              ? 0
              : 3);
}

static void an_interruption_ends_a_hanging_round(void **state)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        run_and_be_interrupted();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_round_does_not_outlive_the_command(void **state)
{
    const struct timespec a_while = {.tv_nsec = 300000000};
    struct lock_plan plan = plan_of(&hanging_lock);
    struct lock_record record;
    int status;

    plan.patience_ns = 3600000000000;
    plan.lock_count = 1; /* so that the child that is left is one that hangs */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)bench_lock_run(&plan, &record, NULL, NULL);
        _exit(0);
    }
    nanosleep(&a_while, NULL);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lock_that_does_not_exclude_is_caught),
        cmocka_unit_test(a_lock_that_hangs_is_told_and_the_run_goes_on),
        cmocka_unit_test(a_lock_that_crashes_is_told_and_the_run_goes_on),
        cmocka_unit_test(an_interruption_ends_a_hanging_round),
        cmocka_unit_test(a_round_does_not_outlive_the_command),
    };
    alarm(100); /* a test that hangs ends */
    return cmocka_run_group_tests_name("bench/lock", tests, NULL, NULL);
}
