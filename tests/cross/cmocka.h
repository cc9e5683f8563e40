/*
 * As much of cmocka as the library's tests use, for machines that have no cmocka: cross builds,
 * whose tests run under an emulator. A failing assertion ends the program.
 */
#ifndef CROSS_CMOCKA_H
#define CROSS_CMOCKA_H

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **);
    int (*setup)(void **);
    int (*teardown)(void **);
    void *state;
};

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f, NULL, NULL, NULL                                                                    \
    }
#define cmocka_unit_test_setup_teardown(f, up, down)                                               \
    {                                                                                              \
#f, f, up, down, NULL                                                                      \
    }
#define cmocka_run_group_tests_name(name, t, up, down) cross_run(t, sizeof(t) / sizeof((t)[0]))
#define cmocka_set_test_filter(pattern)                (cross_filter = (pattern))
#define print_message                                  printf

#define cross_check(condition, text)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, text);                                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define assert_true(a)             cross_check(a, #a)
#define assert_false(a)            cross_check(!(a), "not " #a)
#define assert_non_null(a)         cross_check(a, #a)
#define assert_int_equal(a, b)     cross_check((a) == (b), #a " is not " #b)
#define assert_ptr_not_equal(a, b) cross_check((a) != (b), #a " is " #b)
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf(__VA_ARGS__);                                                                       \
        exit(1);                                                                                   \
    } while (0)

static const char *cross_filter; /* the pattern, with * and ?, of the tests to run; NULL: all */

static int cross_run(const struct CMUnitTest *tests, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (cross_filter && fnmatch(cross_filter, tests[i].name, 0))
            continue;
        if (tests[i].setup)
            cross_check(tests[i].setup(NULL) == 0, "setup failed");
        tests[i].test(NULL);
        if (tests[i].teardown)
            cross_check(tests[i].teardown(NULL) == 0, "teardown failed");
        printf("ok %s\n", tests[i].name);
    }
    return 0;
}

#endif
