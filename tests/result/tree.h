/*
 * Made-up file systems for tests: a temporary folder that stands for the root of a machine, filled
 * with the files of /proc and /sys that a test is about.
 */
#ifndef TESTS_RESULT_TREE_H
#define TESTS_RESULT_TREE_H

#include <stddef.h>

/* A new empty folder's path, to be given to tree_remove(). Ends the program when it can't be. */
char *tree_make(void);

/* Writes a file below it, making the folders on the way. */
void tree_put(const char *tree, const char *path, const char *content);
void tree_put_bytes(const char *tree, const char *path, const void *bytes, size_t length);

/* How many entries a folder has. */
unsigned tree_count(const char *folder);

/* A small file's content, allocated. */
char *tree_read(const char *path);

/* Removes it with all that is in it, and frees the path. */
void tree_remove(char *tree);

#endif
