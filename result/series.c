/* Series of rounds: room for them, words for them, JSON of them. */
#include "result/series.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const char *const outcome_words[] = {
    [OUTCOME_NOT_RUN] = "not run",
    [OUTCOME_OK] = "ok",
    [OUTCOME_COLLAPSED] = "collapsed",
    [OUTCOME_CUT_OFF] = "cut off",
    [OUTCOME_INTERRUPTED] = "interrupted",
    [OUTCOME_FAILED] = "failed",
    [OUTCOME_HUNG] = "hung",
};

static const char *const verdict_words[] = {
    [VERDICT_NONE] = "too few rounds",
    [VERDICT_NO_DIFFERENCE] = "no difference seen",
    [VERDICT_FASTER] = "faster",
    [VERDICT_SLOWER] = "slower",
};

const char *outcome_word(enum outcome outcome)
{
    return outcome_words[outcome];
}

const char *series_verdict_word(const struct series *s)
{
    bool has_rounds = s->status == OUTCOME_OK || s->status == OUTCOME_CUT_OFF ||
                      (s->status == OUTCOME_INTERRUPTED && s->rounds_run > 1);
    if (!has_rounds)
        return outcome_words[s->status];
    return s->summary.is_baseline ? "baseline" : verdict_words[s->summary.verdict];
}

int series_init(struct series *s, unsigned threads, unsigned rounds)
{
    s->threads = threads;
    s->rounds = calloc(rounds, sizeof *s->rounds);
    if (!s->rounds)
        return -ENOMEM;
    s->rounds_most = rounds;
    for (unsigned i = 0; i < rounds; i++) {
        s->rounds[i].thread_iterations = calloc(threads, sizeof(uint64_t));
        if (!s->rounds[i].thread_iterations)
            return -ENOMEM;
    }
    return 0;
}

void series_free(struct series *s)
{
    for (unsigned i = 0; i < s->rounds_most; i++)
        free(s->rounds[i].thread_iterations);
    free(s->rounds);
    s->rounds = NULL;
    s->rounds_most = s->rounds_run = 0;
}

json_t *json_from_count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *json_from_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *json_from_counts(const uint64_t *list, unsigned n)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(array, json_from_count(list[i]));
    return array;
}

json_t *json_from_strings(const char *const *list, unsigned n)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < n && list[i]; i++)
        json_array_append_new(array, json_string(list[i]));
    return array;
}

static json_t *round_to_json(const struct round_figures *r, unsigned threads)
{
    return json_pack(
        "{so so so so so so so so so so ss}", "round", json_from_count(r->round), "order",
        json_from_count(r->order), "elapsed_ns", json_from_count(r->elapsed_ns), "iterations",
        json_from_count(r->iterations), "thread_iterations",
        json_from_counts(r->thread_iterations, threads), "cpu_ns", json_from_count(r->cpu_ns),
        "voluntary_switches", json_from_count(r->voluntary_switches), "involuntary_switches",
        json_from_count(r->involuntary_switches), "minor_faults", json_from_count(r->minor_faults),
        "major_faults", json_from_count(r->major_faults), "outcome", outcome_words[r->outcome]);
}

json_t *series_rounds_to_json(const struct series *s)
{
    json_t *rounds = json_array();
    for (unsigned i = 0; i < s->rounds_run; i++)
        json_array_append_new(rounds, round_to_json(&s->rounds[i], s->threads));
    return rounds;
}

static json_t *ratio_to_json(const struct stats_ratio *ratio)
{
    bool has_interval = ratio->has_interval;

    if (!isfinite(ratio->ratio))
        return json_null();
    return json_pack("{so so so so so}", "value", json_from_real(ratio->ratio), "low",
                     json_from_real(has_interval ? ratio->low : NAN), "high",
                     json_from_real(has_interval ? ratio->high : NAN), "confidence",
                     json_from_real(has_interval ? ratio->confidence : NAN), "pairs",
                     json_from_count(ratio->pairs));
}

json_t *series_summary_to_json(const struct series *s)
{
    const struct series_summary *sum = &s->summary;
    return json_pack(
        "{so so so so so so so ss}", "rate_per_second", json_from_real(sum->rate_per_second),
        "iteration_ns", json_from_real(sum->iteration_ns), "cpu_ns_per_iteration",
        json_from_real(sum->cpu_ns), "switches_per_iteration", json_from_real(sum->switches),
        "faults_per_iteration", json_from_real(sum->faults), "slowest_share",
        json_from_real(sum->slowest_share), "ratio",
        sum->is_baseline ? json_null() : ratio_to_json(&sum->ratio), "verdict",
        series_verdict_word(s));
}
