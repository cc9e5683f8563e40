/* Medians, shares and ratios of a series of rounds; when a variant counts as collapsed. */
#include "bench/summary.h"
#include "bench/stats.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A variant that has less than this share of the baseline's rate has collapsed. */
#define COLLAPSE_SHARE 0.2

/* Splitmix64 (Steele, Lea and Flood, 2014): enough for shuffling, and a seed reproduces it. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void shuffle_order(unsigned *order, unsigned n, uint64_t *random)
{
    for (unsigned i = 0; i < n; i++)
        order[i] = i;
    for (unsigned i = n; i > 1; i--) {
        unsigned j = (unsigned)(next_random(random) % i), swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
}

static double round_rate(const struct round_figures *r)
{
    bool counts = r->outcome == OUTCOME_OK || r->outcome == OUTCOME_CUT_OFF;
    return counts && r->elapsed_ns ? (double)r->iterations * 1e9 / (double)r->elapsed_ns : NAN;
}

static double slowest_share(const struct round_figures *r, unsigned threads)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < threads; i++)
        least = r->thread_iterations[i] < least ? r->thread_iterations[i] : least;
    return r->iterations ? (double)least * threads / (double)r->iterations : NAN;
}

/* Rates of all rounds by their number, NAN where a round is missing: what pairs are made of. */
static void rates_by_round(const struct series *s, double *rates)
{
    for (unsigned i = 0; i < s->rounds_most; i++)
        rates[i] = NAN;
    for (unsigned i = 0; i < s->rounds_run; i++)
        rates[s->rounds[i].round] = round_rate(&s->rounds[i]);
}

static double median_of_finite(double *values, unsigned n)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++)
        if (isfinite(values[i]))
            values[kept++] = values[i];
    return stats_median(values, kept);
}

/* Means over everything that was run; NAN if that was nothing. */
static void summarise_totals(struct series *s)
{
    double iterations = 0, cpu_ns = 0, switches = 0, faults = 0;

    for (unsigned i = 0; i < s->rounds_run; i++) {
        const struct round_figures *r = &s->rounds[i];
        iterations += (double)r->iterations;
        cpu_ns += (double)r->cpu_ns;
        switches += (double)r->voluntary_switches + (double)r->involuntary_switches;
        faults += (double)r->minor_faults + (double)r->major_faults;
    }
    s->summary.cpu_ns = cpu_ns / iterations;
    s->summary.switches = switches / iterations;
    s->summary.faults = faults / iterations;
}

/*
 * The whole interval must lie below the line. Too few rounds have no interval: then the figure must
 * lie below half of it, for what falls off a cliff is not hard to see.
 */
static bool has_collapsed(const struct stats_ratio *ratio)
{
    return ratio->has_interval ? ratio->high < COLLAPSE_SHARE : ratio->ratio < COLLAPSE_SHARE / 2;
}

static void note_collapse(struct series *s, const struct series *base, const char *base_name)
{
    bool has_run = s->status == OUTCOME_OK || s->status == OUTCOME_CUT_OFF;

    if (!has_run || s == base || !has_collapsed(&s->summary.ratio))
        return;
    if (s->status == OUTCOME_OK)
        snprintf(s->note, sizeof s->note, "under a fifth of the rate of %s: %.3f ms an iteration",
                 base_name, s->summary.iteration_ns / 1e6);
    s->status = OUTCOME_COLLAPSED;
}

int series_summarise(struct series *s, const struct series *base, const char *base_name)
{
    unsigned rounds = s->rounds_most;
    double *rates = calloc(2 * (size_t)rounds, sizeof *rates), *base_rates = rates + rounds;
    struct series_summary *sum = &s->summary;

    if (!rates)
        return -ENOMEM;
    for (unsigned i = 0; i < s->rounds_run; i++)
        rates[i] = slowest_share(&s->rounds[i], s->threads);
    sum->slowest_share = median_of_finite(rates, s->rounds_run);
    rates_by_round(s, rates);
    rates_by_round(base, base_rates);
    int error = stats_compare(rates, base_rates, rounds, 0.95, &sum->ratio);
    if (!error) {
        sum->is_baseline = s == base;
        sum->verdict = stats_judge(&sum->ratio);
        sum->rate_per_second = median_of_finite(rates, rounds);
        sum->iteration_ns = s->threads * 1e9 / sum->rate_per_second;
        summarise_totals(s);
        note_collapse(s, base, base_name);
    }
    free(rates);
    return error;
}
