/*
 * A record's way to the disk: a temporary file beside the target, renamed over it when whole; a
 * second try elsewhere when that fails. What record.h promises of links, FIFOs and devices is
 * decided here.
 */
#include "result/record.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("rwsem: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* What to try, for the errors of opening that have an answer. */
static const char *advice(int error)
{
    switch (-error) {
    case ENOENT:
        return "; make the folder first";
    case ENOTDIR:
        return "; a part of the path is no folder";
    case EISDIR:
        return "; give the name of a file in it";
    case EACCES:
    case EPERM:
    case EROFS:
        return "; choose a place that you may write";
    case ENOSPC:
    case EDQUOT:
        return "; make room or choose another disk";
    case ENXIO:
        return "; nobody reads there: start the reader first";
    case ENOTSUP:
        return "; a record goes to a file, a FIFO or a terminal";
    default:
        return "";
    }
}

/* Writes all of it. Returns 0 or a negative errno. */
static int write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}

/*
 * Length of the folder part of a path, its slash included; 0 where it has none.
 */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/*
 * Makes a name that nobody has, in the folder of `beside`, by `make` (which fails with EEXIST where
 * somebody has it). Returns what `make` returned, and the allocated name, or a negative errno.
 */
static int make_unique(const char *beside, const char *stem, const char *ending,
                       int (*make)(const char *name, int argument), int argument, char **name)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t number;
        char *made;
        /* The number only has to differ from one try to the next. */
        if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number)) {
            struct timespec t;
            clock_gettime(CLOCK_MONOTONIC, &t);
            number = (uint64_t)t.tv_nsec * (uint64_t)getpid() + (uint64_t)attempt;
        }
        if (asprintf(&made, "%.*s%s%016llx%s", folder_length(beside), beside, stem,
                     (unsigned long long)number, ending) < 0)
            return -ENOMEM;
        int result = make(made, argument);
        int error = result < 0 ? -errno : 0;
        if (!error) {
            *name = made;
            return result;
        }
        free(made);
        if (error != -EEXIST)
            return error;
    }
    return -EEXIST;
}

static int create_new(const char *name, int mode)
{
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, (mode_t)mode);
}

/* Gives the nameless file `fd` a name. */
static int link_new(const char *name, int fd)
{
    char nameless[32];
    snprintf(nameless, sizeof(nameless), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, nameless, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A descriptor for a new file in the folder of `beside`, or a negative errno. */
static int create_unique(const char *beside, const char *stem, const char *ending, mode_t mode,
                         char **name)
{
    return make_unique(beside, stem, ending, create_new, (int)mode, name);
}

/*
 * A file in the folder of `beside` that has no name yet, so that whatever ends us abruptly leaves
 * nothing behind. Returns its descriptor, or -1 where that can't be had: not every file system
 * makes such files, and without /proc they can't be given a name.
 */
static int create_nameless(const char *beside)
{
    char *folder = NULL;
    int length = folder_length(beside);
    if (asprintf(&folder, "%.*s", length ? length : 1, length ? beside : ".") < 0)
        return -1;
    int fd =
        access("/proc/self/fd", X_OK) ? -1 : open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(folder);
    return fd;
}

/* The descriptor that a name such as /dev/stdout or /dev/fd/3 stands for, or -1. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        size_t length = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], length) != 0 || path[length] < '0' || path[length] > '9')
            continue;
        unsigned long number = strtoul(path + length, &end, 10);
        if (*end == '\0' && number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/*
 * Follows symbolic links at the end of `path`, also to something that is not there yet, which
 * realpath() would not. Stops at the names of our own descriptors: those links lead nowhere useful.
 * Returns 0 with an allocated name, or a negative errno.
 */
static int follow_links(const char *path, char **out)
{
    enum { LINKS_MAX = 40 }; /* as many as the kernel follows */
    char *at = strdup(path);
    for (int links = 0; at && links <= LINKS_MAX; links++) {
        char text[PATH_MAX];
        if (named_descriptor(at) >= 0) {
            *out = at;
            return 0;
        }
        ssize_t length = readlink(at, text, sizeof(text) - 1);
        if (length < 0) {
            int error = -errno;
            if (error == -EINVAL || error == -ENOENT) {
                *out = at; /* no link, or nothing there */
                return 0;
            }
            free(at);
            return error;
        }
        text[length] = '\0';
        char *next = NULL;
        if (asprintf(&next, "%.*s%s", text[0] == '/' ? 0 : folder_length(at), at, text) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    int error = at ? -ELOOP : -ENOMEM;
    free(at);
    return error;
}

/* Prepares for replacing the regular file `target`, which may not be there. */
static int open_beside(struct record_file *file, const char *target, const struct stat *old)
{
    if (old && faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0)
        return -errno;
    int fd = create_nameless(target);
    if (fd < 0)
        fd = create_unique(target, ".rwsem-", ".tmp", 0666, &file->temporary);
    if (fd < 0)
        return fd;
    /* Who made the old file private wants the new one private too. */
    if (old && fchmod(fd, old->st_mode & 0777) != 0) {
        int error = -errno;
        close(fd);
        if (file->temporary)
            unlink(file->temporary);
        free(file->temporary);
        file->temporary = NULL;
        return error;
    }
    file->fd = fd;
    return 0;
}

/* Prepares for writing into what is there: a FIFO, a character device. */
static int open_direct(struct record_file *file, const char *target)
{
    /* Without O_NONBLOCK a FIFO would wait here for its reader, perhaps for ever. */
    int fd = open(target, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    file->fd = fd;
    return 0;
}

static int open_descriptor(struct record_file *file, int number)
{
    int flags = fcntl(number, F_GETFL);
    if (flags < 0)
        return -errno;
    if ((flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    int fd = fcntl(number, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return -errno;
    file->fd = fd;
    return 0;
}

/* Chooses the way by what is at `target`; sets is_direct. */
static int open_way(struct record_file *file, const char *target, bool *is_direct)
{
    struct stat there;
    int number = named_descriptor(target);
    *is_direct = true;
    if (number >= 0)
        return open_descriptor(file, number);
    size_t length = strlen(target);
    if (length == 0)
        return -ENOENT;
    if (stat(target, &there) != 0) {
        *is_direct = false;
        if (errno != ENOENT)
            return -errno;
        return target[length - 1] == '/' ? -EISDIR : open_beside(file, target, NULL);
    }
    switch (there.st_mode & S_IFMT) {
    case S_IFREG:
        *is_direct = false;
        return open_beside(file, target, &there);
    case S_IFIFO:
    case S_IFCHR:
        return open_direct(file, target);
    case S_IFDIR:
        return -EISDIR;
    default:
        return -ENOTSUP;
    }
}

int record_open(struct record_file *file, const char *path)
{
    struct record_file opened = {0};
    char *target = NULL;
    bool is_direct = false;
    opened.path = strdup(path);
    int error = opened.path ? follow_links(path, &target) : -ENOMEM;
    if (!error)
        error = open_way(&opened, target, &is_direct);
    if (error) {
        say("can't write %s: %s%s", path, strerror(-error), advice(error));
        free(target);
        free(opened.path);
        return error;
    }
    if (is_direct)
        free(target);
    else
        opened.target = target;
    *file = opened;
    return 0;
}

/* Whether fsync's error says only that there is nothing to sync there (a pipe, a pseudo file). */
static bool is_unsyncable(int error)
{
    return error == EINVAL || error == EROFS || error == ENOTSUP || error == ENOSYS ||
           error == EPERM || error == EACCES; /* the last two: a system-call filter */
}

/*
 * Writes, syncs and closes; where `beside` is given, a nameless file gets a name there. Closes `fd`
 * in any case. Returns 0 or a negative errno.
 */
static int write_out(int fd, const char *text, size_t length, const char *beside, char **name)
{
    int error = write_all(fd, text, length);
    if (!error && fsync(fd) != 0 && !is_unsyncable(errno))
        error = -errno;
    if (!error && beside)
        error = make_unique(beside, ".rwsem-", ".tmp", link_new, fd, name);
    /* Network file systems tell here that the disk was full. */
    if (close(fd) != 0 && !error && errno != EINTR)
        error = -errno;
    return error;
}

/* Forgets the file; its descriptor has been closed. */
static void forget(struct record_file *file)
{
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->target);
    free(file->path);
    *file = (struct record_file){0};
}

/* Tries one folder for a record that could not be put where it was to go. */
static int save_in(const char *folder, const char *text, size_t length)
{
    char *beside = NULL;
    char *name = NULL;
    if (asprintf(&beside, "%s/", folder) < 0)
        return -ENOMEM;
    int fd = create_unique(beside, "rwsem-record-", ".json", 0600, &name);
    int error = fd < 0 ? fd : write_out(fd, text, length, NULL, NULL);
    if (!error) {
        say("the record went to %s instead", name);
    } else {
        say("can't write a record in %s either: %s", folder, strerror(-error));
        if (name)
            unlink(name);
    }
    free(name);
    free(beside);
    return error;
}

static void save_elsewhere(const char *text, size_t length)
{
    const char *chosen = secure_getenv("TMPDIR");
    if (chosen && chosen[0] && save_in(chosen, text, length) == 0)
        return;
    if (chosen && strcmp(chosen, "/tmp") == 0)
        return;
    if (save_in("/tmp", text, length) != 0)
        say("the record is lost; make room, or set TMPDIR to a folder that has some");
}

/* Holds SIGXFSZ and SIGPIPE back from this thread, which both are sent to by write(). */
struct held_signals {
    sigset_t ours;
    sigset_t before;
    sigset_t pending;
};

static void hold_signals(struct held_signals *held)
{
    sigemptyset(&held->ours);
    sigaddset(&held->ours, SIGXFSZ);
    sigaddset(&held->ours, SIGPIPE);
    sigpending(&held->pending);
    pthread_sigmask(SIG_BLOCK, &held->ours, &held->before);
}

/* Throws away those that came meanwhile, but not what was pending before. */
static void release_signals(struct held_signals *held)
{
    static const struct timespec at_once;
    for (int number = 1; number < NSIG; number++) {
        sigset_t one;
        if (sigismember(&held->ours, number) != 1 || sigismember(&held->pending, number) == 1)
            continue;
        sigemptyset(&one);
        sigaddset(&one, number);
        while (sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

int record_save(struct record_file *file, const json_t *record)
{
    struct held_signals held;
    hold_signals(&held);
    char *text = record_text(record);
    size_t length = text ? strlen(text) : 0;
    int error = -ENOMEM;
    if (text)
        error = write_out(file->fd, text, length, file->temporary ? NULL : file->target,
                          &file->temporary);
    else
        close(file->fd);
    if (!error && file->target) {
        if (rename(file->temporary, file->target) == 0) {
            free(file->temporary);
            file->temporary = NULL;
        } else {
            error = -errno;
        }
    }
    if (error)
        say("can't write %s: %s", file->path, strerror(-error));
    bool is_lost = error && text;
    forget(file);
    if (is_lost)
        save_elsewhere(text, length);
    free(text);
    release_signals(&held);
    return error;
}

void record_abandon(struct record_file *file)
{
    if (!file->path)
        return;
    close(file->fd);
    forget(file);
}
