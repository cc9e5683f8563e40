/*
 * Every workload of the table, as it is meant to run: with each gate and touch, in one thread and
 * several, it times each phase as often as it says and leaves no mapping behind.
 */
#include "bench/workload.h"
#include "result/config.h"
#include "tests/bench/drive.h"
#include "tests/bench/test.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITERATIONS = 200, LINES_SLACK = 8 };

static bool is(const struct bench_workload *w, const char *name)
{
    return !strcmp(w->name, name);
}

/* How often `threads` threads should have timed a phase. */
static uint64_t expected_laps(const struct drive *d, unsigned phase)
{
    if (!d->workload->phases[phase])
        return 0;
    return (uint64_t)d->threads * d->iterations;
}

static void assert_ran_well(const struct drive *d)
{
    if (d->error)
        print_message("# %s: %s: %s\n", d->workload->name, d->failed_call, strerror(-d->error));
    assert_int_equal(d->error, 0);
    for (unsigned p = 0; p < BENCH_PHASES; p++)
        assert_int_equal(d->phase[p], expected_laps(d, p));
    assert_int_equal(d->whole, (uint64_t)d->threads * d->iterations);
    /* What is left out of an iteration by a skip is in no phase either: each lap is rounded down.
     */
    assert_true(d->phases_ns <= d->whole_ns + (uint64_t)BENCH_PHASES * d->whole);
    assert_true(d->whole_ns <= d->phases_ns + (uint64_t)BENCH_PHASES * d->whole);
}

/*
 * What the workload maps must be gone. Beside it libc's arenas may grow and shrink, which shows
 * where it uses malloc. A sanitizer maps memory of its own for whatever is mapped or freed; there
 * test_workload_failures.c has to do, which counts what the workload itself maps and unmaps.
 */
static void assert_left_as_it_was(const struct drive *d, struct mapped before)
{
    struct mapped after = mapped_now();

    if (strcmp(RWSEM_SANITIZERS, "none"))
        return;
    if (!is(d->workload, "malloc"))
        assert_int_equal(after.bytes, before.bytes);
    assert_true(after.mappings <= before.mappings + LINES_SLACK);
}

/* The first run lets libc make its arenas, and keep the threads' stacks. */
static void run_twice(struct drive *d)
{
    struct drive first = *d;

    first.iterations = d->iterations / 5;
    assert_int_equal(drive_run(&first), 0);
    assert_ran_well(&first);
    struct mapped before = mapped_now();
    int free_fd = lowest_free_fd();
    assert_int_equal(drive_run(d), 0);
    assert_ran_well(d);
    assert_left_as_it_was(d, before);
    assert_int_equal(lowest_free_fd(), free_fd);
}

static void run_touches(const struct bench_workload *workload, const char *gate, unsigned threads)
{
    for (int touch = TOUCH_NONE; touch <= TOUCH_ALL; touch++) {
        struct drive d = {
            .workload = workload,
            .gate = peer_find(gate),
            .threads = threads,
            .touch = (enum bench_touch)touch,
            .iterations = ITERATIONS,
        };
        if (is(workload, "malloc") && touch == TOUCH_ALL)
            d.iterations /= 40; /* each writes to megabytes */
        if (touch == TOUCH_FIRST || workload->uses & USES_TOUCH)
            run_twice(&d);
    }
}

static void run_everything_with(const char *gate)
{
    for (const struct bench_workload *const *w = workload_table; *w; w++) {
        run_touches(*w, gate, 1);
        run_touches(*w, gate, 4);
    }
}

static void every_workload_runs_bare_and_leaves_nothing(void **state)
{
    run_everything_with("none");
}

static void every_workload_runs_behind_a_mutex_and_leaves_nothing(void **state)
{
    run_everything_with("mutex");
}

static void populated_mappings_run_where_a_workload_uses_them(void **state)
{
    for (const struct bench_workload *const *w = workload_table; *w; w++) {
        struct drive d = {.workload = *w,
                          .gate = peer_find("none"),
                          .threads = 2,
                          .is_populated = true,
                          .iterations = ITERATIONS};
        if ((*w)->uses & USES_POPULATE)
            run_twice(&d);
    }
}

static void sizes_of_several_pages_run_where_a_workload_uses_them(void **state)
{
    for (const struct bench_workload *const *w = workload_table; *w; w++) {
        struct drive d = {.workload = *w,
                          .gate = peer_find("none"),
                          .threads = 3,
                          .touch = TOUCH_ALL,
                          .size = 5 * (size_t)sysconf(_SC_PAGESIZE),
                          .iterations = ITERATIONS};
        if ((*w)->uses & USES_SIZE)
            run_twice(&d);
    }
}

static void names_are_unique_and_found(void **state)
{
    for (const struct bench_workload *const *w = workload_table; *w; w++) {
        assert_ptr_equal(workload_find((*w)->name), *w);
        for (const struct bench_workload *const *v = workload_table; v != w; v++)
            assert_string_not_equal((*w)->name, (*v)->name);
    }
    assert_null(workload_find("maps"));
    assert_null(workload_find(""));
}

static void the_default_is_the_benchmark_of_2011(void **state)
{
    assert_string_equal(workload_table[0]->name, "map");
}

static void every_workload_tells_what_it_is(void **state)
{
    for (const struct bench_workload *const *w = workload_table; *w; w++) {
        assert_true(strlen((*w)->like) > 10 && !strchr((*w)->like, '\n'));
        assert_true(strlen((*w)->does) > 10 && !strchr((*w)->does, '\n'));
        assert_non_null((*w)->phases[0]);
        for (unsigned p = 0; p < BENCH_PHASES && (*w)->phases[p]; p++)
            for (unsigned q = 0; q < p; q++)
                assert_string_not_equal((*w)->phases[p], (*w)->phases[q]);
        assert_true((*w)->default_size % (size_t)sysconf(_SC_PAGESIZE) == 0);
    }
}

/* Touching writes to one byte of each page that it is to touch, and to nothing else. */
static void a_touch_writes_to_the_pages_asked_for(void **state)
{
    enum { PAGE = 64, PAGES = 4 };
    static const char wanted[][PAGES] = {
        [TOUCH_NONE] = {0, 0, 0, 0}, [TOUCH_FIRST] = {1, 0, 0, 0}, [TOUCH_ALL] = {1, 1, 1, 1}};

    for (int touch = TOUCH_NONE; touch <= TOUCH_ALL; touch++) {
        char area[PAGE * PAGES + 1] = {0};
        struct bench_job job = {.page_size = PAGE, .touch = (enum bench_touch)touch};
        worker_touch(&job, area, PAGE * PAGES);
        for (int i = 0; i <= PAGE * PAGES; i++)
            assert_int_equal(area[i],
                             i % PAGE == 0 && i < PAGE * PAGES ? wanted[touch][i / PAGE] : 0);
    }
}

static int calibrate(void **state)
{
    clock_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_runs_bare_and_leaves_nothing),
        cmocka_unit_test(every_workload_runs_behind_a_mutex_and_leaves_nothing),
        cmocka_unit_test(populated_mappings_run_where_a_workload_uses_them),
        cmocka_unit_test(sizes_of_several_pages_run_where_a_workload_uses_them),
        cmocka_unit_test(names_are_unique_and_found),
        cmocka_unit_test(the_default_is_the_benchmark_of_2011),
        cmocka_unit_test(every_workload_tells_what_it_is),
        cmocka_unit_test(a_touch_writes_to_the_pages_asked_for),
    };
    return cmocka_run_group_tests_name("bench/workloads", tests, calibrate, NULL);
}
