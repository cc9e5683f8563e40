/*
 * The histogram: every bucket's bounds, quantiles against an exact sort within the stated 1.6 %,
 * merging, and the way through JSON with what a stranger's file may hold.
 */
#include "result/hist.h"
#include "result/hist_json.h"
#include "tests/result/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t top = (uint64_t)1 << HIST_TOP_BITS;

static void values_below_32_have_a_bucket_each(void **state)
{
    for (uint64_t ns = 0; ns < 32; ns++) {
        assert_int_equal(hist_index(ns), ns);
        assert_int_equal(hist_lower_ns(ns), ns);
        assert_int_equal(hist_upper_ns(ns), ns + 1);
    }
}

static void every_bucket_counts_exactly_what_its_bounds_say(void **state)
{
    for (size_t i = 0; i < HIST_BUCKETS; i++) {
        assert_int_equal(hist_index(hist_lower_ns(i)), i);
        if (i > 0)
            assert_int_equal(hist_index(hist_lower_ns(i) - 1), i - 1);
        if (i < HIST_BUCKETS - 1)
            assert_int_equal(hist_index(hist_upper_ns(i) - 1), i);
        assert_true(hist_lower_ns(i) < hist_upper_ns(i));
    }
    assert_int_equal(hist_upper_ns(HIST_BUCKETS - 1), UINT64_MAX);
}

static void no_bucket_is_wider_than_a_32nd_of_its_values(void **state)
{
    for (size_t i = HIST_SUB; i < HIST_BUCKETS - 1; i++)
        assert_true((hist_upper_ns(i) - hist_lower_ns(i)) * 32 <= hist_lower_ns(i));
}

static void powers_of_two_begin_a_bucket(void **state)
{
    for (unsigned bit = 5; bit < HIST_TOP_BITS; bit++) {
        uint64_t power = (uint64_t)1 << bit;
        assert_int_equal(hist_lower_ns(hist_index(power)), power);
        assert_int_equal(hist_index(power - 1), hist_index(power) - 1);
        /* From 64 on a bucket is two values wide at least. */
        assert_int_equal(hist_index(power + 1), hist_index(power) + (bit == 5));
    }
}

static void values_beyond_the_top_go_to_the_last_bucket(void **state)
{
    const uint64_t values[] = {top - 1, top, top + 1, UINT64_MAX};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(hist_index(values[i]), HIST_BUCKETS - 1);
}

static void least_greatest_and_sum_are_exact(void **state)
{
    struct hist h = {0};
    hist_add(&h, 1000003);
    hist_add(&h, 17);
    hist_add(&h, top + 5);
    assert_int_equal(h.count, 3);
    assert_int_equal(h.min_ns, 17);
    assert_int_equal(h.max_ns, top + 5);
    assert_int_equal(h.sum_ns, 1000003 + 17 + top + 5);
}

static void the_sum_does_not_wrap_round(void **state)
{
    struct hist h = {0};
    hist_add(&h, UINT64_MAX);
    hist_add(&h, 3);
    assert_int_equal(h.sum_ns, UINT64_MAX);
    struct hist twice = h;
    hist_merge(&twice, &h);
    assert_int_equal(twice.sum_ns, UINT64_MAX);
    assert_int_equal(twice.count, 4);
}

static void an_empty_histogram_has_quantiles_of_0(void **state)
{
    const struct hist h = {0};
    assert_int_equal(hist_quantile_ns(&h, 0), 0);
    assert_int_equal(hist_quantile_ns(&h, 0.5), 0);
    assert_int_equal(hist_quantile_ns(&h, 1), 0);
}

static void a_single_sample_is_every_quantile_exactly(void **state)
{
    const uint64_t values[] = {0, 31, 32, 33, 1000003, top - 1, top, UINT64_MAX};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct hist h = {0};
        hist_add(&h, values[i]);
        for (int percent = 0; percent <= 100; percent++)
            assert_int_equal(hist_quantile_ns(&h, percent / 100.0), values[i]);
    }
}

static void outer_quantiles_are_the_outer_samples(void **state)
{
    struct hist h = {0};
    for (uint64_t ns = 100001; ns < 200000; ns += 7)
        hist_add(&h, ns);
    assert_int_equal(hist_quantile_ns(&h, 0), 100001);
    assert_int_equal(hist_quantile_ns(&h, -1), 100001);
    assert_int_equal(hist_quantile_ns(&h, 1), h.max_ns);
    assert_int_equal(hist_quantile_ns(&h, 2), h.max_ns);
}

static void a_quantile_beyond_the_top_is_the_greatest_sample(void **state)
{
    struct hist h = {0};
    hist_add(&h, 10);
    hist_add(&h, top);
    hist_add(&h, 3 * top);
    assert_int_equal(hist_quantile_ns(&h, 0.3), 10);
    assert_int_equal(hist_quantile_ns(&h, 0.6), 3 * top);
}

/* Counts up to 100 samples of 0 to 31, where buckets are exact: the rank itself is tested. */
static void the_rank_is_the_least_that_covers_the_share(void **state)
{
    for (unsigned count = 1; count <= 32; count++) {
        struct hist h = {0};
        for (unsigned i = 0; i < count; i++)
            hist_add(&h, i);
        for (unsigned percent = 1; percent <= 100; percent++) {
            unsigned rank = (percent * count + 99) / 100;
            assert_int_equal(hist_quantile_ns(&h, percent / 100.0), rank - 1);
        }
    }
}

static uint64_t random_state;

/* xorshift64*, after Vigna's paper on scrambled xorshift generators. */
static uint64_t draw(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

/* RWSEM_TEST_SEED repeats a run. */
static int seed(void **state)
{
    const char *chosen = getenv("RWSEM_TEST_SEED");
    random_state = chosen ? strtoull(chosen, NULL, 0) : (uint64_t)time(NULL) * 2654435761u;
    random_state |= 1;
    print_message("# RWSEM_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return 0;
}

/* Spread over the magnitudes from 1 ns to the top. */
static uint64_t draw_ns(void)
{
    return (draw() >> 24) >> (draw() % HIST_TOP_BITS);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void quantiles_are_within_1_6_percent_of_the_sorted_sample(void **state)
{
    enum { MOST = 5000 };
    static uint64_t samples[MOST];
    for (unsigned set = 0; set < 60; set++) {
        size_t count = 1 + draw() % MOST;
        struct hist h = {0};
        for (size_t i = 0; i < count; i++) {
            samples[i] = draw_ns();
            hist_add(&h, samples[i]);
        }
        qsort(samples, count, sizeof(samples[0]), by_value);
        for (size_t permille = 0; permille <= 1000; permille++) {
            size_t rank = (permille * count + 999) / 1000;
            uint64_t exact = samples[rank > 0 ? rank - 1 : 0];
            uint64_t told = hist_quantile_ns(&h, (double)permille / 1000.0);
            uint64_t apart = told > exact ? told - exact : exact - told;
            if (apart * 1000 > exact * 16)
                fail_msg("%zu samples, quantile %zu/1000: %llu told for %llu", count, permille,
                         (unsigned long long)told, (unsigned long long)exact);
        }
    }
}

static void merging_is_adding_all_samples_to_one(void **state)
{
    struct hist parts[4] = {{0}};
    struct hist merged = {0};
    struct hist whole = {0};
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t ns = draw_ns();
        hist_add(&parts[draw() % 3], ns); /* the last part stays empty */
        hist_add(&whole, ns);
    }
    for (unsigned i = 0; i < 4; i++)
        hist_merge(&merged, &parts[i]);
    assert_memory_equal(&merged, &whole, sizeof(whole));
}

static void merging_an_empty_one_changes_nothing(void **state)
{
    struct hist empty = {.min_ns = 3}; /* meaningless while count is 0 */
    struct hist h = {0};
    hist_add(&h, 500);
    struct hist before = h;
    hist_merge(&h, &empty);
    assert_memory_equal(&h, &before, sizeof(h));
}

static void merging_into_an_empty_one_copies(void **state)
{
    struct hist h = {0};
    struct hist into = {0};
    hist_add(&h, 500);
    hist_add(&h, 90000);
    hist_merge(&into, &h);
    assert_memory_equal(&into, &h, sizeof(h));
}

static void json_brings_every_bucket_back(void **state)
{
    struct hist h = {0};
    struct hist back;
    for (size_t i = 0; i < HIST_BUCKETS; i++) {
        for (size_t times = 0; times <= i % 3; times++)
            hist_add(&h, hist_lower_ns(i));
    }
    json_t *json = hist_to_json(&h);
    assert_int_equal(hist_from_json(json, &back), 0);
    assert_memory_equal(&back, &h, sizeof(h));
    json_decref(json);
}

static void json_brings_an_empty_one_back(void **state)
{
    const struct hist h = {0};
    struct hist back;
    memset(&back, 0x55, sizeof(back));
    json_t *json = hist_to_json(&h);
    assert_int_equal(json_array_size(json_object_get(json, "buckets")), 0);
    assert_int_equal(hist_from_json(json, &back), 0);
    assert_memory_equal(&back, &h, sizeof(h));
    json_decref(json);
}

static void json_tells_integers_that_it_can_hold(void **state)
{
    struct hist h = {0};
    struct hist back;
    hist_add(&h, UINT64_MAX);
    json_t *json = hist_to_json(&h);
    assert_int_equal(json_integer_value(json_object_get(json, "max_ns")), INT64_MAX);
    assert_int_equal(json_integer_value(json_object_get(json, "p50_ns")), INT64_MAX);
    assert_int_equal(hist_from_json(json, &back), 0);
    assert_int_equal(back.bucket[HIST_BUCKETS - 1], 1);
    json_decref(json);
}

static void json_tells_the_quantiles_of_tables(void **state)
{
    struct hist h = {0};
    for (uint64_t ns = 1; ns <= 100000; ns++)
        hist_add(&h, ns);
    json_t *json = hist_to_json(&h);
    const struct {
        const char *key;
        double q;
    } told[] = {{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}, {"p99_9_ns", 0.999}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(json_integer_value(json_object_get(json, told[i].key)),
                         hist_quantile_ns(&h, told[i].q));
    json_decref(json);
}

static void json_that_contradicts_itself_is_refused(void **state)
{
    /* The counts add up to 0 if they are let wrap round. */
    static const char overflowing[] =
        "{'count':0,'sum_ns':0,'min_ns':0,'max_ns':0,"
        "'buckets':[[5,9223372036854775807],[6,9223372036854775807],[7,2]]}";
    static const char *const bad[] = {
        "[]",
        "{}",
        "{'count':0,'sum_ns':0,'min_ns':0,'max_ns':0}",
        "{'count':0,'sum_ns':0,'min_ns':0,'max_ns':0,'buckets':{}}",
        "{'count':0,'sum_ns':9,'min_ns':0,'max_ns':0,'buckets':[]}",
        "{'count':2,'sum_ns':5,'min_ns':5,'max_ns':5,'buckets':[[5,1]]}",
        "{'count':1,'sum_ns':5,'min_ns':5,'max_ns':5,'buckets':[]}",
        "{'count':1.0,'sum_ns':5,'min_ns':5,'max_ns':5,'buckets':[[5,1]]}",
        "{'count':1,'sum_ns':-5,'min_ns':5,'max_ns':5,'buckets':[[5,1]]}",
        "{'count':1,'sum_ns':5,'min_ns':5,'max_ns':5,'buckets':[[5,1,0]]}",
        "{'count':1,'sum_ns':5,'min_ns':5,'max_ns':5,'buckets':[[5]]}",
        "{'count':1,'sum_ns':5,'min_ns':5,'max_ns':5,'buckets':[['5',1]]}",
        "{'count':1,'sum_ns':5,'min_ns':5,'max_ns':5,'buckets':[5,1]}",
        "{'count':0,'sum_ns':0,'min_ns':0,'max_ns':0,'buckets':[[5,0]]}",
        "{'count':1,'sum_ns':65,'min_ns':65,'max_ns':65,'buckets':[[65,1]]}",
        "{'count':1,'sum_ns':-1,'min_ns':-1,'max_ns':-1,'buckets':[[-1,1]]}",
        "{'count':2,'sum_ns':11,'min_ns':5,'max_ns':6,'buckets':[[6,1],[5,1]]}",
        "{'count':2,'sum_ns':10,'min_ns':5,'max_ns':5,'buckets':[[5,1],[5,1]]}",
        "{'count':2,'sum_ns':11,'min_ns':4,'max_ns':6,'buckets':[[5,1],[6,1]]}",
        "{'count':2,'sum_ns':11,'min_ns':5,'max_ns':7,'buckets':[[5,1],[6,1]]}",
        "{'count':2,'sum_ns':5,'min_ns':5,'max_ns':6,'buckets':[[5,1],[6,1]]}",
        "{'count':2,'sum_ns':129,'min_ns':65,'max_ns':64,'buckets':[[64,2]]}",
        overflowing,
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[256];
        struct hist out = {.count = 77};
        snprintf(text, sizeof(text), "%s", bad[i]);
        for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
            *quote = '"';
        json_t *json = json_loads(text, 0, NULL);
        assert_non_null(json);
        int told = hist_from_json(json, &out);
        json_decref(json);
        if (told != -EINVAL || out.count != 77)
            fail_msg("taken: %s", text);
    }
    struct hist out;
    assert_int_equal(hist_from_json(NULL, &out), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_below_32_have_a_bucket_each),
        cmocka_unit_test(every_bucket_counts_exactly_what_its_bounds_say),
        cmocka_unit_test(no_bucket_is_wider_than_a_32nd_of_its_values),
        cmocka_unit_test(powers_of_two_begin_a_bucket),
        cmocka_unit_test(values_beyond_the_top_go_to_the_last_bucket),
        cmocka_unit_test(least_greatest_and_sum_are_exact),
        cmocka_unit_test(the_sum_does_not_wrap_round),
        cmocka_unit_test(an_empty_histogram_has_quantiles_of_0),
        cmocka_unit_test(a_single_sample_is_every_quantile_exactly),
        cmocka_unit_test(outer_quantiles_are_the_outer_samples),
        cmocka_unit_test(a_quantile_beyond_the_top_is_the_greatest_sample),
        cmocka_unit_test(the_rank_is_the_least_that_covers_the_share),
        cmocka_unit_test(quantiles_are_within_1_6_percent_of_the_sorted_sample),
        cmocka_unit_test(merging_is_adding_all_samples_to_one),
        cmocka_unit_test(merging_an_empty_one_changes_nothing),
        cmocka_unit_test(merging_into_an_empty_one_copies),
        cmocka_unit_test(json_brings_every_bucket_back),
        cmocka_unit_test(json_brings_an_empty_one_back),
        cmocka_unit_test(json_tells_integers_that_it_can_hold),
        cmocka_unit_test(json_tells_the_quantiles_of_tables),
        cmocka_unit_test(json_that_contradicts_itself_is_refused),
    };
    return cmocka_run_group_tests_name("result/hist", tests, seed, NULL);
}
