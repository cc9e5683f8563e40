/*
 * A controlled scheduler: runs a program of a few threads over and over, each time with another
 * interleaving, until all within a bound have been seen or one has failed.
 *
 * The bound is on what costs: preempting a thread that could go on, letting a sleep or a spin reach
 * its end while others could run, letting a signal handler run. Switching from a thread that
 * sleeps, spins or has ended is free. (Iterative context bounding: Musuvathi and Qadeer, PLDI
 * 2007.)
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPLORE_THREADS = 4 };

struct explore_program {
    unsigned threads;
    void (*reset)(void *arg);                  /* before each run */
    void (*thread)(void *arg, unsigned index); /* the body of each */
    const char *(*at_end)(void *arg);          /* when all have ended: what is wrong, or NULL */
    const char *(*always)(void *arg);          /* after each write: what is wrong, or NULL */
    void *arg;
    unsigned cpus; /* what os_usable_cpus() says: 1 turns spinning off */
};

struct explore_result {
    uint64_t schedules; /* run with the last bound */
    uint64_t steps;
    unsigned bound;      /* the last one tried */
    const char *failure; /* NULL: none found */
    char schedule[4096]; /* to be given to explore_replay(): the choices, by commas */
};

/* Tries all interleavings for bounds 0 to `bound`, or until `most` schedules have been run. */
struct explore_result explore_all(const struct explore_program *program, unsigned bound,
                                  uint64_t most);

/* Runs one schedule, told as a story on stdout. Returns its failure, or NULL. */
const char *explore_replay(const struct explore_program *program, const char *schedule);

/* For the bodies. The memory that is watched: the lock. Freed: every later access is a failure. */
void explore_lock_memory(void *start, size_t size);
void explore_free_lock_memory(void);
void explore_fail(const char *what);
void explore_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void explore_pass_time(uint64_t ns);
/* Marks that from here on this thread waits for the lock, or no longer. */
void explore_begin_wait(bool is_writer, bool is_interruptible);
void explore_end_wait(void);
/* This thread got the lock: fails if others wait for longer than the bound and have been passed
 * time and again since. */
void explore_passes_others(bool is_writer);
/* Does any thread wait for longer than the bound of the hand-off? */
bool explore_has_overdue(void);

#endif
