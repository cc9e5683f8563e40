/* What the kinds of bench/switch.h share: two sides that hand something to and fro. */
#ifndef BENCH_SWITCH_GAME_H
#define BENCH_SWITCH_GAME_H

#include "result/cpus.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whose turn it is in the futex game; OVER sends both home. */
enum { TURN_FIRST, TURN_SECOND, TURN_OVER };

/* Shared by the two sides; a game is played once a round. */
struct game {
    _Atomic bool is_over;
    uint64_t steps; /* of both sides together */
    _Atomic uint32_t turn;
    const struct cpus *cpus; /* where the two sides are to run, one or two of them */
    int to_child[2], to_parent[2];
    pthread_mutex_t child_mutex; /* guards child, which is signalled from another thread */
    pid_t child;                 /* 0: none, or waited for */
    uint64_t child_switches;
    char *why_not;
    size_t why_not_size;
};

/* Relaxed: nothing is read on the strength of it. */
static inline bool game_is_over(const struct game *game)
{
    return atomic_load_explicit(&game->is_over, memory_order_relaxed);
}

/* The sides' parts as crew_job wants them; the context is the game. In switch_threads.c: */
int yield_work(void *context, unsigned index, uint64_t *iterations);
int futex_work(void *context, unsigned index, uint64_t *iterations);

/* In switch_processes.c; the other side is a child process. */
int pipe_enter(void *context, unsigned index);
int pipe_work(void *context, unsigned index, uint64_t *iterations);
void pipe_leave(void *context, unsigned index);
void pipe_hurry(void *context);

#endif
