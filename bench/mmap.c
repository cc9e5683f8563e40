/*
 * The grid of `rwsem bench mmap`: cells of threads, in each cell rounds in which every gate has its
 * turn in shuffled order, then the figures that are derived from them. round.c runs one piece.
 */
#include "bench/mmap.h"
#include "bench/crew.h"
#include "bench/round.h"
#include "bench/summary.h"
#include "bench/switch.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SWITCH_ROUNDS = 9, SWITCH_STEPS = 10000 };

struct run {
    const struct bench_plan *plan;
    struct mmap_record *record;
    struct cpus *cpus;
    uint64_t random; /* splitmix64's state */
    void (*progress)(void *context, const struct bench_progress *now);
    void *context;
    unsigned done, total;
    uint64_t started_ns;
};

static void tell(struct run *run, const char *doing)
{
    struct bench_progress now = {.doing = doing, .done = run->done, .total = run->total};
    uint64_t spent_ns = clock_monotonic_ns() - run->started_ns;

    if (!run->progress)
        return;
    if (run->plan->cell_ns)
        now.left_ns = (run->total - run->done) * (run->plan->cell_ns / run->plan->rounds);
    else if (run->done)
        now.left_ns = spent_ns / run->done * (run->total - run->done);
    run->progress(run->context, &now);
}

static unsigned lap_count(const struct bench_workload *workload)
{
    unsigned laps = 0;
    while (laps < BENCH_PHASES && workload->phases[laps])
        laps++;
    return laps;
}

static int prepare_variant(struct mmap_variant *v, const struct peer *gate,
                           const struct bench_plan *plan, unsigned threads)
{
    v->gate = gate->name;
    v->classic_gate = gate->classic_name ? gate->classic_name : gate->name;
    return series_init(&v->series, threads, plan->rounds);
}

static int prepare_record(struct run *run)
{
    const struct bench_plan *plan = run->plan;
    struct mmap_record *record = run->record;
    const char **gates = calloc(plan->gate_count, sizeof *gates);

    record->gates = gates;
    record->cells = calloc(plan->thread_count, sizeof *record->cells);
    if (!gates || !record->cells)
        return -ENOMEM;
    record->gate_count = plan->gate_count;
    for (unsigned g = 0; g < plan->gate_count; g++)
        gates[g] = plan->gates[g]->name;
    record->workload = plan->workload->name;
    record->like = plan->workload->like;
    record->does = plan->workload->does;
    memcpy(record->phases, plan->workload->phases, sizeof record->phases);
    record->touch = touch_name(plan->touch);
    record->is_populated = plan->is_populated;
    record->is_pinned = plan->is_pinned;
    record->is_timed = plan->cell_ns != 0;
    record->size = plan->size;
    record->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    record->cell_ns = plan->cell_ns;
    record->iterations = plan->iterations;
    record->limit_ns = plan->limit_ns;
    record->rounds = plan->rounds;
    record->seed = plan->seed;
    record->usable_cpus = run->cpus->usable;
    record->quota_cpus = run->cpus->quota;
    record->uses_size = plan->workload->uses & USES_SIZE;
    record->uses_touch = plan->workload->uses & USES_TOUCH;
    record->clock = measuring_clock.name;
    for (unsigned c = 0; c < plan->thread_count; c++) {
        struct mmap_cell *cell = &record->cells[c];
        cell->threads = plan->threads[c];
        cell->variants = calloc(plan->gate_count, sizeof *cell->variants);
        if (!cell->variants)
            return -ENOMEM;
        record->cell_count = c + 1;
        for (unsigned g = 0; g < plan->gate_count; g++)
            if (prepare_variant(&cell->variants[g], plan->gates[g], plan, cell->threads))
                return -ENOMEM;
    }
    return 0;
}

/* Whether it is worth asking this variant once more. */
static bool may_go_on(const struct series *s)
{
    return s->status == OUTCOME_NOT_RUN || s->status == OUTCOME_OK;
}

static void run_variant(struct run *run, struct mmap_cell *cell, unsigned gate, unsigned round,
                        unsigned order)
{
    const struct bench_plan *plan = run->plan;
    struct mmap_variant *v = &cell->variants[gate];
    struct series *s = &v->series;
    struct round_figures *r = &s->rounds[s->rounds_run];
    struct round_request request = {
        .plan = plan,
        .gate = plan->gates[gate],
        .threads = cell->threads,
        .round_ns = plan->cell_ns / plan->rounds,
        .cpus = run->cpus,
    };
    char doing[64];

    snprintf(doing, sizeof doing, "%u thread%s, %s", cell->threads, cell->threads > 1 ? "s" : "",
             v->gate);
    tell(run, doing);
    r->round = round;
    r->order = order;
    round_run(&request, r, v->phase, &v->whole, s->note, sizeof s->note);
    s->rounds_run++;
    s->status = r->outcome;
    if (r->outcome == OUTCOME_CUT_OFF)
        snprintf(s->note, sizeof s->note, "%llu of %llu iterations in %.1f s",
                 (unsigned long long)r->iterations,
                 (unsigned long long)(plan->iterations * cell->threads),
                 (double)r->elapsed_ns / 1e9);
}

static void run_cell(struct run *run, struct mmap_cell *cell)
{
    const struct bench_plan *plan = run->plan;
    unsigned order[PLAN_LIST_MAX];

    for (unsigned round = 0; round < plan->rounds && !bench_interrupted(); round++) {
        shuffle_order(order, plan->gate_count, &run->random);
        for (unsigned i = 0; i < plan->gate_count && !bench_interrupted(); i++) {
            if (may_go_on(&cell->variants[order[i]].series))
                run_variant(run, cell, order[i], round, i);
            run->done++;
        }
    }
}

static int summarise_cell(const struct mmap_record *record, struct mmap_cell *cell,
                          unsigned baseline)
{
    struct mmap_variant *base = &cell->variants[baseline];
    int error = series_summarise(&base->series, &base->series, base->gate);

    for (unsigned g = 0; g < record->gate_count && !error; g++)
        if (g != baseline)
            error = series_summarise(&cell->variants[g].series, &base->series, base->gate);
    return error;
}

/* The mean iteration of the fastest cell and gate: what the loop's own cost is held against. */
static double fastest_iteration_ns(const struct mmap_record *record)
{
    double fastest = 0;
    for (unsigned c = 0; c < record->cell_count; c++)
        for (unsigned g = 0; g < record->gate_count; g++) {
            const struct hist *whole = &record->cells[c].variants[g].whole;
            double mean = whole->count ? (double)whole->sum_ns / (double)whole->count : 0;
            if (mean > 0 && (fastest == 0 || mean < fastest))
                fastest = mean;
        }
    return fastest;
}

static int summarise(const struct bench_plan *plan, struct mmap_record *record)
{
    unsigned baseline = 0;
    int error = 0;

    for (unsigned g = plan->gate_count; g-- > 0;)
        if (plan->gates[g]->size == 0)
            baseline = g;
    for (unsigned c = 0; c < record->cell_count && !error; c++)
        error = summarise_cell(record, &record->cells[c], baseline);
    record->fastest_iteration_ns = fastest_iteration_ns(record);
    return error;
}

static int measure_switches(struct run *run)
{
    struct mmap_record *record = run->record;

    record->has_switches = true;
    for (int k = 0; k < SWITCH_KINDS; k++) {
        record->switch_names[k] = switch_name((enum switch_kind)k);
        record->switch_abouts[k] = switch_about((enum switch_kind)k);
        tell(run, record->switch_names[k]);
        int error =
            switch_measure((enum switch_kind)k, SWITCH_ROUNDS, SWITCH_STEPS, &record->switches[k]);
        if (error)
            return error;
        run->done++;
    }
    return 0;
}

int bench_mmap_run(const struct bench_plan *plan, struct mmap_record *record,
                   void (*progress)(void *context, const struct bench_progress *now), void *context)
{
    struct run run = {
        .plan = plan,
        .record = record,
        .random = plan->seed,
        .progress = progress,
        .context = context,
        .total = plan->thread_count * plan->gate_count * plan->rounds +
                 (plan->has_switches ? SWITCH_KINDS : 0),
        .started_ns = clock_monotonic_ns(),
        .cpus = calloc(1, sizeof *run.cpus),
    };
    int error = -ENOMEM;

    clock_init();
    memset(record, 0, sizeof *record);
    if (!run.cpus)
        return error;
    cpus_read(run.cpus);
    error = prepare_record(&run);
    if (error)
        goto out;
    record->overhead_ns = round_overhead_ns(lap_count(plan->workload));
    if (plan->has_switches)
        error = measure_switches(&run);
    for (unsigned c = 0; c < record->cell_count && !error && !bench_interrupted(); c++)
        run_cell(&run, &record->cells[c]);
    record->interrupted_by = bench_interrupted();
    int summary_error = summarise(plan, record);
    error = error ? error : summary_error;
out:
    free(run.cpus);
    return error;
}
