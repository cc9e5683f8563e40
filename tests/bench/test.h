/* cmocka with what it wants included before it, and skips that tell their reason. */
#ifndef TESTS_BENCH_TEST_H
#define TESTS_BENCH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include <math.h>

#define assert_near(is, wanted, within) assert_true(fabs((is) - (wanted)) <= (within))

#endif
