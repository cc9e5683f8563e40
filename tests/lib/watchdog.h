/*
 * For tests with threads: ends the program with a dump of the lock when it hangs, and prints the
 * seed of what is random. Include once a program.
 */
#ifndef TEST_LIB_WATCHDOG_H
#define TEST_LIB_WATCHDOG_H

#include "rwsem.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static rwsem_t *watched_by_dog;

static void bark(int number)
{
    static const char text[] = "# the test hangs; its lock:\n";

    if (write(STDERR_FILENO, text, sizeof(text) - 1) > 0 && watched_by_dog)
        rwsem_dump(watched_by_dog, STDERR_FILENO);
    _exit(99);
}

/* From now on `seconds` without another call end the program. */
static inline void watch_for_hang(rwsem_t *sem, unsigned seconds)
{
    const char *patience = getenv("RWSEM_TEST_PATIENCE"); /* where a hang is expected */

    watched_by_dog = sem;
    signal(SIGALRM, bark);
    alarm(patience ? (unsigned)atoi(patience) : seconds);
}

static inline uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline struct timespec in_ms(int64_t ms)
{
    uint64_t ns = clock_ns() + (uint64_t)(ms * 1000000);

    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* Returns once somebody waits for the lock: sleeps in its queue or flags that he does. */
static inline void until_contended(const rwsem_t *sem)
{
    struct timespec moment = {0, 100000};

    while (!rwsem_is_contended(sem))
        nanosleep(&moment, NULL);
}

#endif
