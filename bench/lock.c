/* The grid of `rwsem bench lock`: cells, rounds, and who was first. lock_round.c runs one piece. */
#include "bench/lock.h"
#include "bench/crew.h"
#include "bench/lock_apart.h"
#include "bench/stats.h"
#include "bench/summary.h"
#include "result/clock.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMED_ROUNDS = 2, LOOP_ROUND_NS = 5000000, LOOP_TRIES = 5 };

struct run {
    const struct lock_plan *plan;
    struct lock_record *record;
    struct cpus *cpus;
    double turns_per_ns;
    uint64_t random;
    void (*progress)(void *context, const struct bench_progress *now);
    void *context;
    unsigned done, total;
};

static bool has_writes(const struct lock_case *is)
{
    return is->writers || is->write_share > 0;
}

static void describe_case(const struct lock_case *is, char *text, size_t size)
{
    if (is->writers)
        snprintf(text, size, "%u writers, %u readers", is->writers, is->threads - is->writers);
    else
        snprintf(text, size, "%u thread%s, %.4g %% writes", is->threads, is->threads > 1 ? "s" : "",
                 100 * is->write_share);
}

static void tell(struct run *run, const struct lock_cell *cell, const char *lock)
{
    const struct lock_plan *plan = run->plan;
    char what[64], doing[128];
    struct bench_progress now = {.doing = doing, .done = run->done, .total = run->total};

    if (!run->progress)
        return;
    describe_case(&cell->is, what, sizeof what);
    snprintf(doing, sizeof doing, "%s: %s", what, lock);
    /* The timed rounds take as long as the others. */
    now.left_ns =
        (uint64_t)((double)(run->total - run->done) * 2 * (double)plan->cell_ns / plan->rounds);
    run->progress(run->context, &now);
}

static int prepare_record(struct run *run)
{
    const struct lock_plan *plan = run->plan;
    struct lock_record *record = run->record;
    const char **locks = calloc(plan->lock_count, sizeof *locks);

    record->locks = locks;
    record->cells = calloc(plan->case_count, sizeof *record->cells);
    if (!locks || !record->cells)
        return -ENOMEM;
    record->lock_count = plan->lock_count;
    for (unsigned i = 0; i < plan->lock_count; i++)
        locks[i] = plan->locks[i]->name;
    record->cell_ns = record->timed_ns = plan->cell_ns;
    record->patience_ns = plan->patience_ns;
    record->rounds = plan->rounds;
    record->timed_rounds = TIMED_ROUNDS;
    record->seed = plan->seed;
    record->is_pinned = plan->is_pinned;
    record->usable_cpus = run->cpus->usable;
    record->clock = measuring_clock.name;
    for (unsigned c = 0; c < plan->case_count; c++) {
        struct lock_cell *cell = &record->cells[c];
        cell->is = plan->cases[c];
        cell->variants = calloc(plan->lock_count, sizeof *cell->variants);
        if (!cell->variants)
            return -ENOMEM;
        record->cell_count = c + 1;
        for (unsigned i = 0; i < plan->lock_count; i++) {
            struct lock_variant *v = &cell->variants[i];
            v->lock = plan->locks[i]->name;
            if (series_init(&v->series, cell->is.threads, plan->rounds) ||
                series_init(&v->timed, cell->is.threads, TIMED_ROUNDS))
                return -ENOMEM;
        }
    }
    return 0;
}

/* "none" may run only where nobody writes; whatever has failed is not asked again. */
static bool may_run(const struct peer *lock, const struct lock_cell *cell, struct lock_variant *v)
{
    if (!lock->size && has_writes(&cell->is)) {
        snprintf(v->series.note, sizeof v->series.note, "only where nobody writes");
        return false;
    }
    return v->series.status == OUTCOME_NOT_RUN || v->series.status == OUTCOME_OK;
}

static int run_piece(struct run *run, struct lock_cell *cell, unsigned lock, unsigned round,
                     unsigned order, bool is_timed)
{
    const struct lock_plan *plan = run->plan;
    struct lock_variant *v = &cell->variants[lock];
    struct series *s = is_timed ? &v->timed : &v->series;
    struct round_figures *r = &s->rounds[s->rounds_run];
    struct lock_request request = {
        .lock = plan->locks[lock],
        .is = &cell->is,
        .pin_to = plan->is_pinned ? run->cpus : NULL,
        .round_ns = plan->cell_ns / (is_timed ? TIMED_ROUNDS : plan->rounds),
        .is_timed = is_timed,
        .turns_per_ns = run->turns_per_ns,
        .random = plan->seed + round,
    };

    r->round = round;
    r->order = order;
    int error = lock_round_run_apart(&request, plan->patience_ns, r, v);
    if (error)
        return error;
    s->rounds_run++;
    s->status = r->outcome;
    if (r->outcome != OUTCOME_OK)
        v->series.status = r->outcome;
    return 0;
}

static int run_round(struct run *run, struct lock_cell *cell, unsigned round, bool is_timed)
{
    const struct lock_plan *plan = run->plan;
    unsigned order[PLAN_LIST_MAX];

    shuffle_order(order, plan->lock_count, &run->random);
    for (unsigned i = 0; i < plan->lock_count && !bench_interrupted(); i++) {
        struct lock_variant *v = &cell->variants[order[i]];
        if (!may_run(plan->locks[order[i]], cell, v))
            continue;
        tell(run, cell, v->lock);
        int error = run_piece(run, cell, order[i], round, i, is_timed);
        if (error)
            return error;
    }
    run->done += is_timed ? 0 : plan->lock_count;
    return 0;
}

static int run_cell(struct run *run, struct lock_cell *cell)
{
    const struct lock_plan *plan = run->plan;
    unsigned timed = 0;

    for (unsigned round = 0; round < plan->rounds && !bench_interrupted(); round++) {
        int error = run_round(run, cell, round, false);
        /* Timed rounds lie spread among the others, the last after the last. */
        if (!error && (round + 1) * TIMED_ROUNDS / plan->rounds > timed && timed < TIMED_ROUNDS)
            error = run_round(run, cell, timed++, true);
        if (error)
            return error;
    }
    return 0;
}

/* Slowest share among threads of the same role, where roles are dedicated. */
static double slowest_of_role(const struct series *s, unsigned from, unsigned to)
{
    uint64_t least = UINT64_MAX, all = 0;

    for (unsigned t = from; t < to; t++) {
        uint64_t sum = 0;
        for (unsigned r = 0; r < s->rounds_run; r++)
            sum += s->rounds[r].thread_iterations[t];
        least = sum < least ? sum : least;
        all += sum;
    }
    return all ? (double)least * (to - from) / (double)all : NAN;
}

static void summarise_roles(const struct lock_cell *cell, struct lock_variant *v)
{
    unsigned writers = cell->is.writers, threads = cell->is.threads;
    double elapsed_s = 0;

    for (unsigned r = 0; r < v->series.rounds_run; r++)
        elapsed_s += (double)v->series.rounds[r].elapsed_ns / 1e9;
    v->reads_per_second = (double)v->reads / elapsed_s;
    v->writes_per_second = (double)v->writes / elapsed_s;
    if (writers)
        v->series.summary.slowest_share = fmin(slowest_of_role(&v->series, 0, writers),
                                               slowest_of_role(&v->series, writers, threads));
}

static unsigned best_of(const struct lock_record *record, const struct lock_cell *cell)
{
    unsigned best = 0;
    double rate = 0;
    for (unsigned i = 0; i < record->lock_count; i++) {
        const struct series *s = &cell->variants[i].series;
        /* No lock at all is the limit, not a competitor. */
        if (strcmp(record->locks[i], "none") && s->status == OUTCOME_OK &&
            s->summary.rate_per_second > rate) {
            rate = s->summary.rate_per_second;
            best = i;
        }
    }
    return best;
}

/* Whether an interruption has left one of the locks without all of its rounds. */
static bool is_cut_short(const struct lock_record *record, const struct lock_cell *cell)
{
    for (unsigned i = 0; i < record->lock_count && record->interrupted_by; i++) {
        const struct series *s = &cell->variants[i].series;
        if (s->status == OUTCOME_INTERRUPTED || s->rounds_run < record->rounds)
            return true;
    }
    return false;
}

static int place(const struct lock_record *record, struct lock_cell *cell)
{
    unsigned best = best_of(record, cell);

    if (is_cut_short(record, cell))
        return 0;
    for (unsigned i = 0; i < record->lock_count; i++) {
        struct lock_variant *v = &cell->variants[i];
        struct series against = v->series; /* shares the rounds; only its summary is written */
        if (!lock_competes(v))
            continue;
        int error = series_summarise(&against, &cell->variants[best].series, record->locks[best]);
        if (error)
            return error;
        if (against.summary.ratio.has_interval)
            v->place = i == best                                          ? PLACE_FIRST
                       : against.summary.verdict == VERDICT_NO_DIFFERENCE ? PLACE_LEVEL
                                                                          : PLACE_BEHIND;
    }
    return 0;
}

/* Whether every longest wait of `a` is shorter; false where none was timed. */
static bool waits_less(const struct lock_variant *a, const struct lock_variant *b)
{
    bool reads = a->read_wait.count && b->read_wait.count;
    bool writes = a->write_wait.count && b->write_wait.count;

    return (reads || writes) && (!reads || a->read_wait.max_ns < b->read_wait.max_ns) &&
           (!writes || a->write_wait.max_ns < b->write_wait.max_ns);
}

/* Finds the fastest of those that beat lock `i` in rate and in longest wait at once. */
static int find_better(const struct lock_record *record, struct lock_cell *cell, unsigned i)
{
    struct lock_variant *v = &cell->variants[i];
    double best = v->series.summary.rate_per_second;

    for (unsigned j = 0; j < record->lock_count; j++) {
        const struct lock_variant *other = &cell->variants[j];
        struct series against = other->series; /* shares the rounds */
        if (j == i || !strcmp(other->lock, "none") || other->series.status != OUTCOME_OK ||
            !(other->series.summary.rate_per_second > best) || !waits_less(other, v))
            continue;
        int error = series_summarise(&against, &v->series, v->lock);
        if (error)
            return error;
        if (against.summary.verdict != VERDICT_FASTER)
            continue;
        v->beaten_by = other->lock;
        best = other->series.summary.rate_per_second;
    }
    return 0;
}

static int summarise_cell(const struct lock_record *record, struct lock_cell *cell)
{
    struct lock_variant *base = &cell->variants[0];

    for (unsigned i = 0; i < record->lock_count; i++) {
        struct lock_variant *v = &cell->variants[i];
        int error = series_summarise(&v->series, &base->series, base->lock);
        if (error)
            return error;
        summarise_roles(cell, v);
    }
    int error = place(record, cell);
    for (unsigned i = 0; i < record->lock_count && !error; i++)
        if (lock_competes(&cell->variants[i]))
            error = find_better(record, cell, i);
    return error;
}

/* What an operation of the loop costs without a lock: the floor under all figures. */
static double measure_loop(void)
{
    const struct peer *none = peer_find("none");
    uint64_t iterations;
    struct lock_case is = {.threads = 1};
    struct lock_variant v = {0};
    struct lock_request request = {.lock = none, .is = &is, .round_ns = LOOP_ROUND_NS};
    double least = NAN;

    for (int i = 0; i < LOOP_TRIES; i++) {
        struct round_figures round = {.thread_iterations = &iterations};
        if (lock_round_run(&request, &round, &v) || !round.iterations)
            return NAN;
        least = fmin(least, (double)round.elapsed_ns / (double)round.iterations);
    }
    return least;
}

int bench_lock_run(const struct lock_plan *plan, struct lock_record *record,
                   void (*progress)(void *context, const struct bench_progress *now), void *context)
{
    struct run run = {
        .plan = plan,
        .record = record,
        .random = plan->seed,
        .progress = progress,
        .context = context,
        .total = plan->case_count * plan->lock_count * plan->rounds,
        .cpus = calloc(1, sizeof *run.cpus),
    };
    int error = -ENOMEM;

    clock_init();
    memset(record, 0, sizeof *record);
    if (!run.cpus)
        return error;
    cpus_read(run.cpus);
    run.turns_per_ns = lock_round_calibrate();
    error = prepare_record(&run);
    if (error)
        goto out;
    record->loop_ns = measure_loop();
    for (unsigned c = 0; c < record->cell_count && !error && !bench_interrupted(); c++)
        error = run_cell(&run, &record->cells[c]);
    record->interrupted_by = bench_interrupted();
    for (unsigned c = 0; c < record->cell_count && !error; c++)
        error = summarise_cell(record, &record->cells[c]);
out:
    free(run.cpus);
    return error;
}
