/*
 * Facts of an environment block of a made-up machine. All of these fail the test where the fact is
 * not what the call says it is.
 */
#ifndef TESTS_RESULT_FACTS_H
#define TESTS_RESULT_FACTS_H

#include <jansson.h>

/* Setup and teardown: the state is a tree with kernel 9.8.7-test in it and little else. */
int facts_make(void **state);
int facts_clear(void **state);

#define WITH_FACTS(test) cmocka_unit_test_setup_teardown(test, facts_make, facts_clear)

/* The block of that machine, to be released. */
json_t *facts_collect(const char *tree);

/* A fact that is text, or NULL where it is null. */
const char *facts_text(const json_t *env, const char *group, const char *key);

long long facts_integer(const json_t *env, const char *group, const char *key);

/* Why a fact is null. */
const char *facts_reason(const json_t *env, const char *group, const char *key);

/* The value of "CONFIG_..."; NULL where the block does not tell that switch. */
const char *facts_switch(const json_t *env, const char *name);

/* Collects, and looks at one fact that has to be text. */
void assert_fact(const char *tree, const char *group, const char *key, const char *expected);

#endif
