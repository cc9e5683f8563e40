/* One lock in one round: threads over the peer's measured loop, then the integrity check. */
#include "bench/lock_round.h"
#include "bench/crew.h"
#include "bench/explain.h"
#include "peers/body.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128, CALIBRATION_TURNS = 4000000, CALIBRATION_TRIES = 5 };

struct team {
    const struct lock_request *request;
    _Atomic bool is_over;
    struct peer_work *works;
    struct hist *waits; /* two a thread (read, write) in timed rounds, else NULL */
};

static int work(void *context, unsigned index, uint64_t *iterations)
{
    struct team *team = context;
    struct peer_work *w = &team->works[index];

    team->request->lock->work(w);
    *iterations = w->reads + w->writes;
    return 0;
}

static void explain(void *context, unsigned index, const char *call, int error)
{
    (void)context, (void)index, (void)call, (void)error; /* pinning was probed; work can't fail */
}

static void describe(struct team *team, void *lock, struct peer_data *data)
{
    const struct lock_case *is = team->request->is;
    double turns = team->request->turns_per_ns;

    for (unsigned i = 0; i < is->threads; i++) {
        struct peer_work *w = &team->works[i];
        bool is_writer = is->writers ? i < is->writers : is->write_share >= 1;
        w->lock = lock;
        w->data = data;
        w->is_over = (const bool *)&team->is_over;
        w->only_writes = is_writer;
        w->write_below = is->writers || is_writer ? 0 : (uint32_t)(is->write_share * 4294967296.0);
        w->inside_turns = (uint64_t)((double)is->inside_ns * turns);
        w->outside_turns = (uint64_t)((double)is->outside_ns * turns);
        w->random = (team->request->random + i) * 0x9e3779b97f4a7c15u | 1;
        if (team->waits) {
            w->read_wait = &team->waits[2 * i];
            w->write_wait = &team->waits[2 * i + 1];
        }
    }
}

static void check_integrity(const struct team *team, const struct peer_data *data,
                            struct round_figures *round, char *note, size_t note_size)
{
    uint64_t writes = 0, torn = 0;

    for (unsigned i = 0; i < team->request->is->threads; i++) {
        writes += team->works[i].writes;
        torn += team->works[i].torn_reads;
    }
    uint64_t first = data->word[0], last = data->word[PEER_DATA_WORDS - 1];
    if (first == writes && last == writes && data->word[PEER_DATA_WORDS / 2] == writes && !torn)
        return;
    round->outcome = OUTCOME_FAILED;
    snprintf(note, note_size,
             "the lock does not exclude: %llu writes left a count of %llu, %llu reads saw a write "
             "half done",
             (unsigned long long)writes, (unsigned long long)first, (unsigned long long)torn);
}

static void add_up(const struct team *team, struct lock_variant *v)
{
    for (unsigned i = 0; i < team->request->is->threads; i++) {
        const struct peer_work *w = &team->works[i];
        if (team->waits) {
            hist_merge(&v->read_wait, w->read_wait);
            hist_merge(&v->write_wait, w->write_wait);
        } else {
            v->reads += w->reads;
            v->writes += w->writes;
        }
    }
}

static int run_team(struct team *team, const struct peer_data *data, struct round_figures *round,
                    struct lock_variant *v)
{
    struct crew_job job = {
        .threads = team->request->is->threads,
        .pin_to = team->request->pin_to,
        .most_ns = team->request->round_ns,
        .is_over = &team->is_over,
        .context = team,
        .work = work,
        .explain = explain,
    };
    struct crew_result result;
    int error = crew_run(&job, &result, round);

    if (error)
        return error;
    if (result.start_error)
        explain_threads(result.started, job.threads, result.start_error, v->series.note,
                        sizeof v->series.note);
    else
        check_integrity(team, data, round, v->series.note, sizeof v->series.note);
    add_up(team, v);
    return 0;
}

static void *allocate_lines(size_t bytes)
{
    size_t rounded = (bytes + LINE - 1) / LINE * LINE;
    void *memory = aligned_alloc(LINE, rounded);
    if (memory)
        memset(memory, 0, rounded); /* also faults it in */
    return memory;
}

int lock_round_run(const struct lock_request *request, struct round_figures *round,
                   struct lock_variant *variant)
{
    unsigned threads = request->is->threads;
    struct team team = {.request = request};
    struct peer_data *data = allocate_lines(sizeof *data);
    int error = -ENOMEM;

    team.works = allocate_lines(sizeof *team.works * threads);
    if (request->is_timed)
        team.waits = allocate_lines(sizeof *team.waits * 2 * threads);
    if (!data || !team.works || (request->is_timed && !team.waits))
        goto out;
    void *lock = peer_make(request->lock, &error);
    if (error)
        goto out;
    describe(&team, lock, data);
    error = run_team(&team, data, round, variant);
    peer_free(request->lock, lock);
out:
    free(team.waits);
    free(team.works);
    free(data);
    return error;
}

double lock_round_calibrate(void)
{
    uint64_t least_ns = UINT64_MAX;

    for (int i = 0; i < CALIBRATION_TRIES; i++) {
        uint64_t start = clock_monotonic_ns();
        peer_delay(CALIBRATION_TURNS);
        uint64_t ns = clock_monotonic_ns() - start;
        least_ns = ns < least_ns ? ns : least_ns; /* what disturbs it can only add */
    }
    return least_ns ? (double)CALIBRATION_TURNS / (double)least_ns : 1;
}
