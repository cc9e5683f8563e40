/* The kinds of switches, and the rounds in which each is measured. */
#include "bench/switch.h"
#include "bench/crew.h"
#include "bench/stats.h"
#include "bench/switch_game.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND_MOST_NS = 2000000000 };

struct kind {
    const char *name, *about;
    unsigned cpus;    /* that it needs */
    unsigned threads; /* of ours; the other side of one is a child process */
    int (*enter)(void *context, unsigned index);
    int (*work)(void *context, unsigned index, uint64_t *iterations);
    void (*leave)(void *context, unsigned index);
};

static const struct kind kinds[SWITCH_KINDS] = {
    [SWITCH_YIELD] = {"yield", "sched_yield of two threads on one CPU", 1, 2, NULL, yield_work,
                      NULL},
    [SWITCH_FUTEX_ONE_CPU] = {"threads, one CPU", "wake another thread on this CPU and sleep", 1, 2,
                              NULL, futex_work, NULL},
    [SWITCH_FUTEX_TWO_CPUS] = {"threads, two CPUs", "wake another thread on another CPU and sleep",
                               2, 2, NULL, futex_work, NULL},
    [SWITCH_PIPE_ONE_CPU] = {"processes, one CPU", "a byte to another process on this CPU", 1, 1,
                             pipe_enter, pipe_work, pipe_leave},
    [SWITCH_PIPE_TWO_CPUS] = {"processes, two CPUs", "a byte to another process on another CPU", 2,
                              1, pipe_enter, pipe_work, pipe_leave},
};

const char *switch_name(enum switch_kind kind)
{
    return kinds[kind].name;
}

const char *switch_about(enum switch_kind kind)
{
    return kinds[kind].about;
}

static void explain(void *context, unsigned index, const char *call, int error)
{
    struct game *game = context;

    if (game->why_not[0])
        return;
    if (call)
        snprintf(game->why_not, game->why_not_size, "threads may not be pinned: %s",
                 strerror(error));
    else if (error == EPIPE)
        snprintf(game->why_not, game->why_not_size, "the other process ended too early");
    else
        snprintf(game->why_not, game->why_not_size, "no second process: %s", strerror(error));
}

/* One round. 1 if it was whole, 0 if it is to be the last and does not count, or -ENOMEM. */
static int play(const struct kind *kind, struct game *game, struct switch_cost *out)
{
    struct crew_job job = {
        .threads = kind->threads,
        .pin_to = game->cpus,
        .most_ns = ROUND_MOST_NS,
        .is_over = &game->is_over,
        .context = game,
        .enter = kind->enter,
        .work = kind->work,
        .leave = kind->leave,
        .hurry = kind->leave ? pipe_hurry : NULL,
        .explain = explain,
    };
    struct crew_result result;
    uint64_t iterations[2];
    struct round_figures figures = {.thread_iterations = iterations};

    game->child_switches = 0;
    atomic_store(&game->is_over, false);
    atomic_store(&game->turn, TURN_FIRST);
    int error = crew_run(&job, &result, &figures);
    if (error)
        return error;
    if (result.start_error)
        snprintf(out->why_not, sizeof out->why_not, "no thread could be started: %s",
                 strerror(result.start_error));
    if (figures.iterations < game->steps)
        return 0;
    out->elapsed_ns[out->rounds++] = figures.elapsed_ns;
    out->switches +=
        figures.voluntary_switches + figures.involuntary_switches + game->child_switches;
    return 1;
}

static double median_step_ns(const struct switch_cost *cost)
{
    double samples[SWITCH_ROUNDS_MAX];
    for (unsigned i = 0; i < cost->rounds; i++)
        samples[i] = (double)cost->elapsed_ns[i] / (double)cost->steps;
    return stats_median(samples, cost->rounds);
}

/* Says why there is no round, where nobody else has said so. */
static void explain_nothing(const struct game *game)
{
    if (bench_interrupted())
        snprintf(game->why_not, game->why_not_size, "interrupted");
    else if (!game->why_not[0])
        snprintf(game->why_not, game->why_not_size, "%llu steps took longer than two seconds",
                 (unsigned long long)game->steps);
}

int switch_measure(enum switch_kind which, unsigned rounds, uint64_t steps, struct switch_cost *out)
{
    const struct kind *kind = &kinds[which];
    struct cpus *cpus = calloc(1, sizeof *cpus);
    struct game game = {.child_mutex = PTHREAD_MUTEX_INITIALIZER,
                        .cpus = cpus,
                        .why_not = out->why_not,
                        .why_not_size = sizeof out->why_not};
    int went = 1;

    if (!cpus)
        return -ENOMEM;
    memset(out, 0, sizeof *out);
    /* To and fro: an even number, of which each side does half. */
    out->steps = game.steps = steps < 2 ? 2 : steps & ~(uint64_t)1;
    rounds = rounds > SWITCH_ROUNDS_MAX ? SWITCH_ROUNDS_MAX : rounds ? rounds : 1;
    cpus_read(cpus);
    if (cpus->allowed < kind->cpus) {
        snprintf(out->why_not, sizeof out->why_not, "only one CPU may be used");
        goto out;
    }
    cpus->allowed = kind->cpus;
    while (out->rounds < rounds && went > 0)
        went = play(kind, &game, out);
    out->was_measured = out->rounds > 0;
    if (out->was_measured) {
        out->why_not[0] = '\0';
        out->step_ns = median_step_ns(out);
    } else {
        explain_nothing(&game);
    }
out:
    free(cpus);
    return went < 0 ? went : 0;
}
