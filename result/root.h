/*
 * Files of the system, read below a root: "" for the machine itself, a folder with made-up /proc
 * and /sys in tests. Whatever looks at the machine reads through here.
 */
#ifndef RESULT_ROOT_H
#define RESULT_ROOT_H

#include <stddef.h>
#include <stdio.h>

/* Opens a file for reading; closed on exec. NULL with errno set. */
__attribute__((format(printf, 2, 3))) FILE *root_open(const char *root, const char *path_format,
                                                      ...);

/*
 * Reads a whole small text file, without white space at its end. Returns its length or a negative
 * errno (-EFBIG when it does not fit); `text` always ends in NUL and is empty on failure.
 */
__attribute__((format(printf, 4, 5))) int root_read(const char *root, char *text, size_t size,
                                                    const char *path_format, ...);

/* The same for a file that is one decimal integer; -EINVAL for anything else in it. */
__attribute__((format(printf, 3, 4))) int root_read_integer(const char *root, long long *value,
                                                            const char *path_format, ...);

#endif
