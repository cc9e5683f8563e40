/* Where the tests of record files work; see place.h. */
#include "tests/result/place.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *place_join(const char *a, const char *b)
{
    char *joined;
    if (asprintf(&joined, "%s/%s", a, b) < 0)
        abort();
    return joined;
}

int place_make(void **state)
{
    struct place *p = calloc(1, sizeof(*p));
    if (!p)
        return -1;
    p->tree = tree_make();
    p->folder = place_join(p->tree, "folder");
    p->other = place_join(p->tree, "other");
    p->said = place_join(p->tree, "said");
    if (mkdir(p->folder, 0755) != 0 || mkdir(p->other, 0755) != 0)
        return -1;
    setenv("TMPDIR", p->other, 1);
    umask(022);
    p->record = json_pack("{s:s, s:i, s:f}", "kind", "test", "n", 42, "share", 0.1);
    p->stderr_before = dup(2);
    int fd = open(p->said, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, 2);
    close(fd);
    *state = p;
    return 0;
}

int place_clear(void **state)
{
    struct place *p = *state;
    dup2(p->stderr_before, 2);
    close(p->stderr_before);
    json_decref(p->record);
    free(p->folder);
    free(p->other);
    free(p->said);
    tree_remove(p->tree);
    free(p);
    return 0;
}

const char place_expected[] = "{\"kind\":\"test\",\"n\":42,\"share\":0.1}\n";

void assert_content(const char *path, const char *content)
{
    char *text = tree_read(path);
    assert_string_equal(text, content);
    free(text);
}

void assert_said(const struct place *p, const char *words)
{
    char *text = tree_read(p->said);
    if (!strstr(text, words)) {
        dup2(p->stderr_before, 2); /* for what cmocka has to say */
        fail_msg("\"%s\" was not said, but: %s", words, text);
    }
    free(text);
}

void assert_saved_elsewhere(const struct place *p)
{
    char *said = tree_read(p->said);
    char *name = strstr(said, "the record went to ");
    assert_non_null(name);
    name += strlen("the record went to ");
    *strstr(name, " instead") = '\0';
    assert_int_equal(strncmp(name, p->other, strlen(p->other)), 0);
    assert_int_equal(tree_count(p->other), 1);
    assert_content(name, place_expected);
    struct stat status;
    assert_int_equal(stat(name, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    free(said);
}
