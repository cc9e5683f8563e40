/* Made-up file systems for tests; see tree.h. */
#include "tests/result/tree.h"
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *tree_make(void)
{
    char *path = strdup("/tmp/rwsem-test-XXXXXX");
    if (!path || !mkdtemp(path))
        err(1, "mkdtemp");
    return path;
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            err(1, "mkdir %s", path);
        *slash = '/';
    }
}

void tree_put_bytes(const char *tree, const char *path, const void *bytes, size_t length)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof(whole), "%s%s", tree, path);
    make_folders(whole);
    FILE *file = fopen(whole, "w");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        err(1, "%s", whole);
}

void tree_put(const char *tree, const char *path, const char *content)
{
    tree_put_bytes(tree, path, content, strlen(content));
}

unsigned tree_count(const char *folder)
{
    DIR *open = opendir(folder);
    struct dirent *entry;
    unsigned count = 0;
    if (!open)
        err(1, "%s", folder);
    while ((entry = readdir(open)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open);
    return count;
}

char *tree_read(const char *path)
{
    size_t length = 0;
    size_t room = 1 << 20;
    char *text = malloc(room);
    FILE *file = fopen(path, "r");
    if (!text || !file)
        err(1, "%s", path);
    length = fread(text, 1, room - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    return remove(path);
}

void tree_remove(char *tree)
{
    nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    free(tree);
}
