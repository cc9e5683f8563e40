/*
 * What the figures of `rwsem bench mmap` show, as one paragraph for somebody who has never read
 * such a table. Every sentence stands on a verdict or a figure of the record.
 */
#include "report/bench_mmap.h"
#include "report/number.h"
#include <math.h>
#include <string.h>

struct place {
    const struct mmap_cell *cell;
    const struct mmap_variant *variant;
};

static const struct mmap_variant *baseline_of(const struct mmap_record *r,
                                              const struct mmap_cell *cell)
{
    for (unsigned g = 0; g < r->gate_count; g++)
        if (cell->variants[g].series.summary.is_baseline)
            return &cell->variants[g];
    return NULL;
}

static bool is_faster(const struct mmap_variant *v)
{
    return v->series.status == OUTCOME_OK && !v->series.summary.is_baseline &&
           v->series.summary.verdict == VERDICT_FASTER;
}

static bool is_slower(const struct mmap_variant *v)
{
    return v->series.status == OUTCOME_OK && !v->series.summary.is_baseline &&
           v->series.summary.verdict == VERDICT_SLOWER;
}

/* The gate and cell with the greatest ratio among those with the verdict "faster". One thread has
 * nobody to queue behind: what looks faster there is noise. */
static struct place best_remedy(const struct mmap_record *r)
{
    struct place best = {NULL, NULL};
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++) {
            const struct mmap_variant *v = &r->cells[c].variants[g];
            if (r->cells[c].threads > 1 && is_faster(v) &&
                (!best.variant ||
                 v->series.summary.ratio.ratio > best.variant->series.summary.ratio.ratio))
                best = (struct place){&r->cells[c], v};
        }
    return best;
}

static struct place worst_gate(const struct mmap_record *r)
{
    struct place worst = {NULL, NULL};
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++) {
            const struct mmap_variant *v = &r->cells[c].variants[g];
            double rate = v->series.summary.ratio.ratio;
            bool is_bad =
                v->series.status == OUTCOME_COLLAPSED || (r->cells[c].threads > 1 && is_slower(v));
            if (is_bad && isfinite(rate) &&
                (!worst.variant || rate < worst.variant->series.summary.ratio.ratio))
                worst = (struct place){&r->cells[c], v};
        }
    return worst;
}

struct tally {
    unsigned comparisons; /* with more than one thread */
    unsigned judged;      /* of these, with an interval */
    unsigned rounds_run;  /* the most that any series has */
    bool has_noise;       /* with one thread, a gate looks faster */
};

static struct tally count(const struct mmap_record *r)
{
    struct tally t = {0};
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++) {
            const struct mmap_variant *v = &r->cells[c].variants[g];
            bool is_comparison = !v->series.summary.is_baseline && r->cells[c].threads > 1;
            t.comparisons += is_comparison;
            t.judged += is_comparison && v->series.summary.ratio.has_interval;
            if (v->series.rounds_run > t.rounds_run)
                t.rounds_run = v->series.rounds_run;
            t.has_noise = t.has_noise || (r->cells[c].threads == 1 && is_faster(v));
        }
    return t;
}

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

/* One thread against as many as there are CPUs: the only pair of cells in which perfect scaling is
 * plain to see. They were not measured in pairs, so there is no interval. */
static void say_scaling(const struct mmap_record *r, FILE *to)
{
    const struct mmap_variant *one = NULL, *full = NULL;

    for (unsigned c = 0; c < r->cell_count; c++) {
        if (r->cells[c].threads == 1)
            one = baseline_of(r, &r->cells[c]);
        if (r->cells[c].threads == r->usable_cpus)
            full = baseline_of(r, &r->cells[c]);
    }
    if (!one || !isfinite(one->series.summary.iteration_ns))
        return;
    fprintf(to, "Alone, a thread needs %s for an iteration (%s). ",
            number_time(one->series.summary.iteration_ns).text, one->gate);
    if (full && full != one && isfinite(full->series.summary.rate_per_second))
        fprintf(
            to,
            "%u threads on the %u CPUs, which could do %u times the work of one, do %s times as "
            "much. ",
            r->usable_cpus, r->usable_cpus, r->usable_cpus,
            number_ratio(full->series.summary.rate_per_second / one->series.summary.rate_per_second)
                .text);
}

static bool has_no_lock_as_baseline(const struct mmap_record *r)
{
    const struct mmap_variant *base = baseline_of(r, &r->cells[0]);
    return base && !strcmp(base->gate, "none");
}

static void say_best(const struct mmap_record *r, const struct tally *t, FILE *to)
{
    struct place best = best_remedy(r);

    if (t->comparisons == 0 || !has_no_lock_as_baseline(r))
        return;
    if (best.variant) {
        const struct stats_ratio *ratio = &best.variant->series.summary.ratio;
        fprintf(
            to,
            "Queueing for a lock of one's own before calling the kernel helps: the largest gain "
            "of %u comparisons is %s with %u threads, %s times the work of none (95 %% interval "
            "%.20s to %.20s). ",
            t->comparisons, best.variant->gate, best.cell->threads, number_ratio(ratio->ratio).text,
            number_ratio(ratio->low).text, number_ratio(ratio->high).text);
    } else if (t->judged) {
        fprintf(to,
                "No gate made it faster at any number of threads, as far as %u rounds can tell. ",
                t->rounds_run);
    } else {
        fprintf(to, "%u round%s %s too few to say whether a gate helps: an interval needs 6. ",
                t->rounds_run, plural(t->rounds_run), t->rounds_run == 1 ? "is" : "are");
    }
    if (t->has_noise)
        fprintf(to, "But with one thread, where no gate can help, one looks faster as well: the "
                    "machine is noisier than the intervals tell. ");
}

static void say_worst(const struct mmap_record *r, FILE *to)
{
    struct place worst = worst_gate(r);

    if (!worst.variant)
        return;
    const struct series_summary *s = &worst.variant->series.summary;
    fprintf(to, "The worst is %s with %u thread%s, ", worst.variant->gate, worst.cell->threads,
            plural(worst.cell->threads));
    if (worst.variant->series.status == OUTCOME_COLLAPSED)
        fprintf(to, "which collapses: %s an iteration, %s times the rate of %s%s. ",
                number_time(s->iteration_ns).text, number_ratio(s->ratio.ratio).text,
                baseline_of(r, worst.cell)->gate,
                !strcmp(worst.variant->gate, "spin") && worst.cell->threads > r->usable_cpus
                    ? " (with more threads than CPUs, waiters typically spin away the time slice "
                      "that the holder needs)"
                    : "");
    else
        fprintf(to, "at %s times the rate of %s. ", number_ratio(s->ratio.ratio).text,
                baseline_of(r, worst.cell)->gate);
}

static void say_switches(const struct mmap_record *r, FILE *to)
{
    const struct switch_cost *near = &r->switches[SWITCH_FUTEX_ONE_CPU];
    const struct switch_cost *far = &r->switches[SWITCH_FUTEX_TWO_CPUS];
    const struct switch_cost *process = &r->switches[SWITCH_PIPE_ONE_CPU];

    if (!r->has_switches || !near->was_measured || !process->was_measured)
        return;
    fprintf(to, "For comparison: waking another thread takes %s on the same CPU",
            number_time(near->step_ns).text);
    if (far->was_measured)
        fprintf(to, " and %s on another one", number_time(far->step_ns).text);
    fprintf(to, ", a switch to another process %s. ", number_time(process->step_ns).text);
}

static void say_2011(const struct mmap_record *r, FILE *to)
{
    bool has_mutex = false;

    for (unsigned g = 0; g < r->gate_count; g++)
        has_mutex = has_mutex || !strcmp(r->gates[g], "mutex");
    if (!strcmp(r->workload, "map") && !strcmp(r->touch, "first") && !r->is_populated &&
        r->size == r->page_size && has_mutex && has_no_lock_as_baseline(r))
        fprintf(to, "In May 2011, on another machine and the kernel of its day, an iteration took "
                    "2,165 us bare and 72 us inside a mutex. ");
}

void report_mmap_words(const struct mmap_record *r, FILE *to)
{
    struct tally t = count(r);

    if (!r->cell_count)
        return;
    if (r->interrupted_by)
        fprintf(to, "(The run was interrupted: what follows is from the part that was done.) ");
    if (t.rounds_run == 0) {
        fprintf(to, "Nothing was measured.\n");
        return;
    }
    say_scaling(r, to);
    say_best(r, &t, to);
    say_worst(r, to);
    say_switches(r, to);
    say_2011(r, to);
    fprintf(to, "All this is the machine's, not your program's: whether that waits for mmap_lock, "
                "`perf trace -s -p PID` (time in mmap, munmap, mprotect, madvise) or `perf lock "
                "contention -p PID` can tell.\n");
}
