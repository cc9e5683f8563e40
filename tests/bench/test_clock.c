/* The measuring clock against CLOCK_MONOTONIC: its choice, its rate, and odd spans. */
#include "result/clock.h"
#include "tests/bench/test.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SPAN_NS = 50000000, TRIES = 5 };

static bool kernel_uses_tsc(void)
{
    char name[64] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

    if (f) {
        if (!fgets(name, sizeof name, f))
            name[0] = '\0';
        fclose(f);
    }
    return !strcmp(name, "tsc\n");
}

static void the_counter_is_chosen_only_where_the_kernel_uses_it(void **state)
{
    bool is_tsc = !strcmp(measuring_clock.name, "tsc");

    print_message("# clock: %s\n", measuring_clock.name);
    assert_int_equal(is_tsc, kernel_uses_tsc() && tsc_is_invariant());
    assert_int_equal(is_tsc, measuring_clock.ns_per_tick_q32 != 0);
    if (!is_tsc)
        assert_string_equal(measuring_clock.name, "CLOCK_MONOTONIC");
}

/* Relative error of a span of 50 ms by the measuring clock, which may be disturbed at its ends. */
static double error_over_a_span(void)
{
    uint64_t before_ns = clock_monotonic_ns(), from = clock_ticks(), now_ns;

    do
        now_ns = clock_monotonic_ns();
    while (now_ns - before_ns < SPAN_NS);
    double span_ns = (double)clock_span_ns(from, clock_ticks());
    return fabs(span_ns / (double)(now_ns - before_ns) - 1);
}

static void spans_agree_with_the_monotonic_clock_to_a_thousandth(void **state)
{
    double least = 1;

    for (int i = 0; i < TRIES && least > 0.001; i++) {
        double error = error_over_a_span();
        least = error < least ? error : least;
    }
    print_message("# off by %.2g\n", least);
    assert_true(least <= 0.001);
}

static void a_second_initialisation_changes_nothing(void **state)
{
    struct measuring_clock before = measuring_clock;

    clock_init();
    assert_int_equal(measuring_clock.ns_per_tick_q32, before.ns_per_tick_q32);
    assert_string_equal(measuring_clock.name, before.name);
}

static void a_span_that_runs_backwards_is_0(void **state)
{
    assert_int_equal(clock_span_ns(1000, 999), 0);
    assert_int_equal(clock_span_ns(UINT64_MAX, 0), 0);
    assert_int_equal(clock_span_ns(5, 5), 0);
}

static void a_span_of_a_century_does_not_overflow(void **state)
{
    uint64_t ticks = (uint64_t)1 << 63;
    double ns_per_tick = measuring_clock.ns_per_tick_q32
                             ? (double)measuring_clock.ns_per_tick_q32 / 4294967296.0
                             : 1;
    double expected = (double)ticks * ns_per_tick;
    assert_near((double)clock_span_ns(1, ticks + 1) / expected, 1, 1e-9);
}

/* Both kinds of clock in every build: what a machine without the counter gets. */
static void without_the_counter_ticks_are_monotonic_nanoseconds(void **state)
{
    struct measuring_clock saved = measuring_clock;

    measuring_clock = (struct measuring_clock){.name = "CLOCK_MONOTONIC"};
    uint64_t before = clock_monotonic_ns(), ticks = clock_ticks(), after = clock_monotonic_ns();
    uint64_t span = clock_span_ns(100, 350);
    measuring_clock = saved;
    assert_true(before <= ticks && ticks <= after);
    assert_int_equal(span, 250);
}

static int calibrate(void **state)
{
    clock_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_is_chosen_only_where_the_kernel_uses_it),
        cmocka_unit_test(spans_agree_with_the_monotonic_clock_to_a_thousandth),
        cmocka_unit_test(a_second_initialisation_changes_nothing),
        cmocka_unit_test(a_span_that_runs_backwards_is_0),
        cmocka_unit_test(a_span_of_a_century_does_not_overflow),
        cmocka_unit_test(without_the_counter_ticks_are_monotonic_nanoseconds),
    };
    return cmocka_run_group_tests_name("bench/clock", tests, calibrate, NULL);
}
