/* Reading small files below a root; see root.h. */
#include "result/root.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_under(const char *root, const char *path_format, va_list args)
{
    char path[PATH_MAX];
    int rooted = snprintf(path, sizeof(path), "%s", root);
    if (rooted < 0 || (size_t)rooted >= sizeof(path))
        goto too_long;
    size_t left = sizeof(path) - (size_t)rooted;
    int added = vsnprintf(path + rooted, left, path_format, args);
    if (added < 0 || (size_t)added >= left)
        goto too_long;
    return fopen(path, "re");
too_long:
    errno = ENAMETOOLONG;
    return NULL;
}

static int read_under(const char *root, char *text, size_t size, const char *path_format,
                      va_list args)
{
    text[0] = '\0';
    FILE *file = open_under(root, path_format, args);
    if (!file)
        return -errno;
    errno = 0;
    size_t length = fread(text, 1, size, file);
    int error = 0;
    if (ferror(file))
        error = errno ? -errno : -EIO;
    if (!error && length == size)
        error = -EFBIG;
    fclose(file);
    if (error) {
        text[0] = '\0';
        return error;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    text[length] = '\0';
    return (int)length;
}

FILE *root_open(const char *root, const char *path_format, ...)
{
    va_list args;
    va_start(args, path_format);
    FILE *file = open_under(root, path_format, args);
    va_end(args);
    return file;
}

int root_read(const char *root, char *text, size_t size, const char *path_format, ...)
{
    va_list args;
    va_start(args, path_format);
    int length = read_under(root, text, size, path_format, args);
    va_end(args);
    return length;
}

int root_read_integer(const char *root, long long *value, const char *path_format, ...)
{
    char text[64];
    va_list args;
    va_start(args, path_format);
    int length = read_under(root, text, sizeof(text), path_format, args);
    va_end(args);
    if (length < 0)
        return length;
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno)
        return -EINVAL;
    *value = parsed;
    return 0;
}
