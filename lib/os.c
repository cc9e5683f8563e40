/* The only place with system calls, by syscall(2) so that none is a cancellation point. */
#include "os.h"
#include "annotate.h"
#include "rwsem-atomic.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec as_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

int os_futex_wait(uint32_t *word, uint32_t expected, uint64_t until_ns, uint32_t bits,
                  enum os_scope scope)
{
    struct timespec until = as_timespec(until_ns);
    int op = FUTEX_WAIT_BITSET | (scope == OS_PRIVATE ? FUTEX_PRIVATE_FLAG : 0);
    int saved = errno, rc;

    rc = (int)syscall(SYS_futex, word, op, expected, until_ns == OS_NEVER ? NULL : &until, NULL,
                      bits);
    if (rc < 0)
        rc = -errno;
    errno = saved;
    return rc;
}

int os_futex_wake(uint32_t *word, int count, uint32_t bits, enum os_scope scope)
{
    int op = FUTEX_WAKE_BITSET | (scope == OS_PRIVATE ? FUTEX_PRIVATE_FLAG : 0);
    int saved = errno, rc;

    rc = (int)syscall(SYS_futex, word, op, count, NULL, NULL, bits);
    if (rc < 0)
        rc = -errno;
    errno = saved;
    return rc;
}

uint64_t os_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint32_t os_tid(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

void os_sleep_ns(uint64_t ns)
{
    struct timespec time = as_timespec(ns);
    int saved = errno;

    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL); /* shorter by a signal is fine */
    errno = saved;
}

void os_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* about as long as PAUSE; `yield` is a nop on most */
#else
    __asm__ volatile("" ::: "memory");
#endif
}

int os_read_file(const char *path, char *buf, size_t size)
{
    int saved = errno, fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long n = fd < 0 ? -1 : syscall(SYS_read, fd, buf, size - 1);
    int rc = n < 0 ? -errno : (int)n;

    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    buf[rc > 0 ? rc : 0] = '\0';
    return rc;
}

/* Unless someone else is at it, which may be the code that a signal handler has interrupted. */
static void refresh_quota(uint32_t *quota, uint32_t *is_looking)
{
    uint32_t nobody = 0;

    /* acquire and release: the look has memory of its own */
    if (!RWSEM__CAS(is_looking, &nobody, 1u, RWSEM__ACQUIRE))
        return;
    RWSEM__STORE(quota, os_quota_cpus(""), RWSEM__RELAXED);
    RWSEM__STORE(is_looking, 0u, RWSEM__RELEASE);
}

unsigned os_usable_cpus(uint64_t now_ns)
{
    enum { AFFINITY_NS = 1000000000, QUOTAS_PER = 16 };
    static struct {
        uint64_t next_ns;
        uint32_t cpus, quota, looks, is_looking;
    } cache;
    /* relaxed, all: two threads that look at once store the same */
    uint32_t known = RWSEM__LOAD(&cache.cpus, RWSEM__RELAXED);
    unsigned long mask[128];
    unsigned cpus = 0;
    long n, i;
    int saved = errno;

    if (known && now_ns < RWSEM__LOAD(&cache.next_ns, RWSEM__RELAXED))
        return known;
    ANNOTATE(ignores, &cache, sizeof(cache));
    RWSEM__STORE(&cache.next_ns, now_ns + AFFINITY_NS, RWSEM__RELAXED);
    if (RWSEM__ADD(&cache.looks, 1u, RWSEM__RELAXED) % QUOTAS_PER == 0)
        refresh_quota(&cache.quota, &cache.is_looking);
    n = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
    for (i = 0; i < n / (long)sizeof(mask[0]); i++)
        cpus += (unsigned)__builtin_popcountl(mask[i]);
    errno = saved;
    known = RWSEM__LOAD(&cache.quota, RWSEM__RELAXED);
    cpus = known && known < cpus ? known : cpus;
    cpus = cpus ? cpus : 1; /* cannot tell: no spinning */
    RWSEM__STORE(&cache.cpus, cpus, RWSEM__RELAXED);
    return cpus;
}

/* Field 3 of the thread's stat into *state, field 22 into *birth. False: cannot tell. */
static bool read_stat(uint32_t tid, char *state, uint64_t *birth)
{
    char path[48], text[1024], *at;
    unsigned long long start;

    /* by way of task/, for user-mode emulators make up what /proc/PID/stat says of themselves */
    snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", tid, tid);
    if (os_read_file(path, text, sizeof(text)) <= 0 || !(at = strrchr(text, ')')))
        return false;
    if (sscanf(at + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%*s %llu",
               state, &start) != 2)
        return false;
    *birth = start;
    return true;
}

bool os_is_thread_dead(uint32_t tid)
{
    int saved = errno;
    bool is_gone = syscall(SYS_tkill, tid, 0) < 0 && errno == ESRCH;
    uint64_t birth;
    char state;

    errno = saved;
    if (is_gone)
        return true;
    return read_stat(tid, &state, &birth) && (state == 'Z' || state == 'X');
}

uint32_t os_thread_birth(uint32_t tid)
{
    uint64_t birth = 0;
    char state;

    return read_stat(tid, &state, &birth) ? (uint32_t)birth : 0;
}

uint32_t os_namespaces(void)
{
    int saved = errno;
    struct stat st;
    uint32_t both = stat("/proc/self/ns/pid", &st) == 0 ? (uint32_t)st.st_ino : 0;

    if (both && stat("/proc/self/ns/time", &st) == 0) /* since 5.6; /proc's births are shifted */
        both += (uint32_t)st.st_ino * UINT32_C(0x9e3779b1);
    errno = saved;
    return both;
}
