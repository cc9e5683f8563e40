/*
 * Lines of a kernel configuration, plain or compressed, with zlib or without it: the one place that
 * knows the difference.
 */
#ifndef RESULT_CONFIG_STREAM_H
#define RESULT_CONFIG_STREAM_H

#include "result/config.h"
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if HAVE_ZLIB

#include <zlib.h>

typedef gzFile config_stream; /* passes plain files through */

static inline config_stream config_stream_open(const char *path)
{
    errno = 0;
    config_stream stream = gzopen(path, "rbe");
    if (!stream && errno == 0)
        errno = ENOMEM;
    return stream;
}

/* Like fgets(). */
static inline bool config_stream_line(config_stream stream, char *line, int size)
{
    return gzgets(stream, line, size) != NULL;
}

/* 0, or -EIO when reading ended in an error or in the middle of compressed data. */
static inline int config_stream_close(config_stream stream)
{
    int error;
    gzerror(stream, &error);
    int closing = gzclose(stream);
    return error == Z_OK && closing == Z_OK ? 0 : -EIO;
}

#else

typedef FILE *config_stream;

static inline config_stream config_stream_open(const char *path)
{
    size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) {
        errno = ENOTSUP;
        return NULL;
    }
    return fopen(path, "re");
}

static inline bool config_stream_line(config_stream stream, char *line, int size)
{
    return fgets(line, size, stream) != NULL;
}

static inline int config_stream_close(config_stream stream)
{
    int error = ferror(stream) ? -EIO : 0;
    fclose(stream);
    return error;
}

#endif
#endif
