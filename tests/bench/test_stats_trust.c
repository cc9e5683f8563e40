/*
 * Whether verdicts can be trusted, over thousands of simulated comparisons on machines that are
 * noisy, drift, or have heavy tails: no difference is claimed where there is none, a planted one is
 * found, and intervals cover the truth as often as they say.
 */
#include "bench/stats.h"
#include "tests/bench/machines.h"
#include "tests/bench/test.h"
#include <stdbool.h>
#include <stdio.h>

enum { ROUNDS = 10, COMPARISONS = 200, COVERAGE_COMPARISONS = 2000, MOST_ROUNDS = 70 };

static const uint64_t seed = 20110515;

/* How often `verdict` is given when the first variant has `ratio` times the rate of the second. */
static int verdicts(const struct machine *m, double ratio, double confidence,
                    bool (*is_counted)(enum stats_verdict))
{
    uint64_t random = seed;
    int counted = 0;

    for (int i = 0; i < COMPARISONS; i++) {
        double a[ROUNDS], b[ROUNDS];
        struct stats_ratio r;
        machine_run(m, &random, ratio, a, b, ROUNDS);
        assert_int_equal(stats_compare(a, b, ROUNDS, confidence, &r), 0);
        counted += is_counted(stats_judge(&r));
    }
    return counted;
}

static bool is_claim(enum stats_verdict v)
{
    return v == VERDICT_FASTER || v == VERDICT_SLOWER;
}

static bool is_slower(enum stats_verdict v)
{
    return v == VERDICT_SLOWER;
}

static bool is_faster(enum stats_verdict v)
{
    return v == VERDICT_FASTER;
}

/* Comparisons of `n` rounds whose interval holds the true ratio. */
static int covering(const struct machine *m, size_t n, double ratio, double confidence)
{
    uint64_t random = seed + 100 * (uint64_t)(m - machines) + n;
    int covered = 0;

    for (int i = 0; i < COVERAGE_COMPARISONS; i++) {
        double a[MOST_ROUNDS], b[MOST_ROUNDS];
        struct stats_ratio r;
        machine_run(m, &random, ratio, a, b, n);
        assert_int_equal(stats_compare(a, b, n, confidence, &r), 0);
        covered += r.low <= ratio && ratio <= r.high;
    }
    return covered;
}

static void the_same_program_twice_is_no_difference_in_95_of_100(void **state)
{
    for (size_t m = 0; m < machine_count; m++) {
        int claims = verdicts(&machines[m], 1, 0.95, is_claim);
        print_message("# %s, seed %llu: %d claims in %d\n", machines[m].name,
                      (unsigned long long)seed, claims, COMPARISONS);
        assert_true(claims <= COMPARISONS * 5 / 100);
    }
}

/* The trial itself must be able to fail: intervals of 50 % are to be caught. */
static void the_trial_catches_intervals_that_are_too_narrow(void **state)
{
    for (size_t m = 0; m < machine_count; m++)
        assert_true(verdicts(&machines[m], 1, 0.5, is_claim) > COMPARISONS * 5 / 100);
}

static void five_percent_are_found_in_2_percent_noise_in_90_of_100(void **state)
{
    const struct machine real = {.name = "real", .noise = 0.02, .drift = 0.1};
    int slower = verdicts(&real, 0.95, 0.95, is_slower);
    int faster = verdicts(&real, 1 / 0.95, 0.95, is_faster);

    print_message("# seed %llu: slower %d, faster %d of %d\n", (unsigned long long)seed, slower,
                  faster, COMPARISONS);
    assert_true(slower >= COMPARISONS * 90 / 100);
    assert_true(faster >= COMPARISONS * 90 / 100);
}

/*
 * At least as often as asked, but for the chance of the trial itself (three standard deviations of
 * 2,000 draws are 1.5 %); and not much more often, which would be intervals too wide to be of use.
 */
static void intervals_cover_the_truth_as_often_as_asked(void **state)
{
    static const size_t sizes[] = {7, 10, 20, MOST_ROUNDS};
    double slack = 3 * sqrt(0.95 * 0.05 / COVERAGE_COMPARISONS);

    for (size_t m = 0; m < machine_count; m++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            double share =
                (double)covering(&machines[m], sizes[s], 0.8, 0.95) / (double)COVERAGE_COMPARISONS;
            print_message("# %s, %zu rounds, seed %llu: %.4f covered\n", machines[m].name, sizes[s],
                          (unsigned long long)seed + 100 * m + sizes[s], share);
            assert_true(share >= 0.95 - slack);
            assert_true(share <= 0.975 + slack);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_program_twice_is_no_difference_in_95_of_100),
        cmocka_unit_test(the_trial_catches_intervals_that_are_too_narrow),
        cmocka_unit_test(five_percent_are_found_in_2_percent_noise_in_90_of_100),
        cmocka_unit_test(intervals_cover_the_truth_as_often_as_asked),
    };
    return cmocka_run_group_tests_name("bench/stats_trust", tests, NULL, NULL);
}
