/*
 * A cmocka program for test_tap.py: what it is asked for by its argument passes, fails, skips with
 * a reason, or crashes. Shows that tests/tap.py understands the cmocka that is really installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/skip.h"

static const char *wish = "pass";

static void passes(void **state)
{
}

static void does_as_asked(void **state)
{
    if (strcmp(wish, "skip") == 0)
        skip_because("only %d CPU", 1);
    if (strcmp(wish, "kill") == 0)
        _Exit(7);
    assert_string_equal(wish, "pass");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes),
        cmocka_unit_test(does_as_asked),
    };
    if (argc > 1)
        wish = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
