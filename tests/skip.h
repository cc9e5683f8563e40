/*
 * Skipping a C test with its reason. cmocka's own skip() tells nobody why, and cmocka 1.1.5 prints
 * it as a failure ("not ok 2 # SKIP name"); tests/tap.py, through which every test program runs,
 * puts the line printed here and cmocka's together into "ok 2 - name # SKIP reason".
 *
 * Include it after cmocka.h.
 */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

/* Ends the test that calls it as skipped; as printf: skip_because("one CPU, not %u", n). */
#define skip_because(...)                                                                          \
    do {                                                                                           \
        print_message("# skipped because: ");                                                      \
        print_message(__VA_ARGS__);                                                                \
        print_message("\n");                                                                       \
        skip();                                                                                    \
    } while (0)

#endif
