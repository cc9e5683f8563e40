/* cmocka with what it wants included before it. */
#ifndef TESTS_RESULT_TEST_H
#define TESTS_RESULT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
