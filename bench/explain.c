/*
 * Turns an errno of a running workload into a sentence: ENOMEM alone may mean too many mappings, an
 * address-space limit or no memory, and each has its own remedy. Uses no heap.
 */
#include "bench/explain.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Mappings of this process, by lines of /proc/self/maps; 0 if it can't be read. */
static unsigned long count_mappings(void)
{
    char buffer[4096];
    unsigned long lines = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    while ((got = read(fd, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < got; i++)
            lines += buffer[i] == '\n';
    close(fd);
    return lines;
}

static unsigned long read_number(const char *path)
{
    char buffer[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, buffer, sizeof buffer - 1);

    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return 0;
    buffer[got] = '\0';
    return strtoul(buffer, NULL, 10);
}

/* Writes a hint if the process is at its limit of mappings; says whether it is. */
static bool explain_mappings(char *text, size_t size)
{
    unsigned long mappings = count_mappings();
    unsigned long most = read_number("/proc/sys/vm/max_map_count");

    /* The kernel refuses at the limit itself; threads that ended since may have freed a few. */
    if (!mappings || !most || mappings + most / 50 < most)
        return false;
    snprintf(text, size,
             "the process has %lu mappings of at most %lu: fewer --threads, or raise "
             "vm.max_map_count",
             mappings, most);
    return true;
}

static void explain_memory(char *text, size_t size)
{
    struct rlimit space;

    if (explain_mappings(text, size))
        return;
    if (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
        snprintf(text, size,
                 "the address space is limited to %llu MiB: a smaller --size, fewer --threads, or "
                 "raise ulimit -v",
                 (unsigned long long)space.rlim_cur >> 20);
    else
        snprintf(text, size,
                 "out of memory, or more than vm.overcommit_memory allows: a smaller --size or "
                 "fewer --threads");
}

void explain_threads(unsigned started, unsigned wanted, int error, char *text, size_t text_size)
{
    char hint[160];

    if (!explain_mappings(hint, sizeof hint))
        snprintf(hint, sizeof hint,
                 "fewer --threads, or a higher limit: ulimit -u, ulimit -v, pids.max");
    snprintf(text, text_size, "could start only %u of %u threads: %s (%s)", started, wanted,
             strerror(error), hint);
}

void explain_failure(const char *call, int error, const struct bench_job *job, char *text,
                     size_t text_size)
{
    char hint[160] = "";

    if (error == ENOMEM)
        explain_memory(hint, sizeof hint);
    else if (error == EAGAIN)
        snprintf(hint, sizeof hint, "a limit was reached: see ulimit -a");
    snprintf(text, text_size, "%s: %s%s%s%s", call ? call : job->workload->name, strerror(error),
             hint[0] ? " (" : "", hint, hint[0] ? ")" : "");
}
