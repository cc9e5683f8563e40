/* Where the tests of record files work: folders, and what was said on stderr. */
#ifndef TESTS_RESULT_PLACE_H
#define TESTS_RESULT_PLACE_H

#include "result/record.h"
#include "tests/result/test.h"
#include "tests/result/tree.h"

struct place {
    char *tree;
    char *folder; /* where records go */
    char *other;  /* TMPDIR, where they go instead */
    char *said;   /* what stderr goes to meanwhile */
    int stderr_before;
    json_t *record;
};

/* Setup and teardown of a test. */
int place_make(void **state);
int place_clear(void **state);

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_make, place_clear)

/* "a/b", allocated. */
char *place_join(const char *a, const char *b);

/* What the place's record reads like in a file. */
extern const char place_expected[];

void assert_content(const char *path, const char *content);
void assert_said(const struct place *p, const char *words);

/* The record is the only file in the other folder, and only its owner may read it. */
void assert_saved_elsewhere(const struct place *p);

#endif
