/*
 * The only place with system calls. The explorer replaces os.c by its own, with a clock, futexes
 * and threads that it controls. No function here changes errno, and none is a cancellation point.
 */
#ifndef LIB_OS_H
#define LIB_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OS_NEVER   UINT64_MAX
#define OS_ALL     INT32_MAX
#define OS_ANY_BIT UINT32_MAX

enum os_scope { OS_PRIVATE, OS_ACROSS_PROCESSES };

/* Sleeps while *word is `expected`, until woken with a bit of `bits`, until CLOCK_MONOTONIC reaches
 * until_ns, or until a signal handler has run. Returns 0 (also for no reason), -EAGAIN (not
 * `expected`), -ETIMEDOUT, -EINTR. With OS_NEVER handlers of SA_RESTART signals may go unreported.
 */
int os_futex_wait(uint32_t *word, uint32_t expected, uint64_t until_ns, uint32_t bits,
                  enum os_scope scope);

/* Wakes up to `count` sleepers that wait with a bit of `bits`; returns how many, or a negative
 * errno (the memory may be gone: no error to the caller). */
int os_futex_wake(uint32_t *word, int count, uint32_t bits, enum os_scope scope);

uint64_t os_now_ns(void);
uint32_t os_tid(void);
void os_sleep_ns(uint64_t ns);

/* Tells the CPU that this is a spin. */
void os_pause(void);

/* CPUs that this process may use, as far as affinity and cgroup quota say; at least 1. Cached, and
 * looked at anew when now_ns is a second later. */
unsigned os_usable_cpus(uint64_t now_ns);

/* The CPU quota of this process's control groups in CPUs, rounded up; UINT32_MAX: none. `root` goes
 * in front of /proc and /sys: "" but in tests. One caller at a time. In quota.c. */
unsigned os_quota_cpus(const char *root);

/* Reads a small file into buf as a string; returns its length or a negative errno. */
int os_read_file(const char *path, char *buf, size_t size);

/* Is the thread surely gone, or a zombie? False when it cannot be told. */
bool os_is_thread_dead(uint32_t tid);

/* When the thread was started, in clock ticks since boot, shortened to 32 bits; 0: cannot tell. */
uint32_t os_thread_birth(uint32_t tid);

/* Which PID and time namespaces this process is in, as one number; 0: cannot tell. */
uint32_t os_namespaces(void);

#endif
