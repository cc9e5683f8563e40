/*
 * Prints the record of `rwsem bench mmap`: tables for people, lines for spreadsheets, and the lines
 * of 2011. Reads the record only; the words about it are in bench_mmap_words.c.
 */
#include "report/bench_mmap.h"
#include "report/number.h"
#include <math.h>
#include <string.h>

static bool was_measured(const struct mmap_variant *v)
{
    return v->whole.count > 0;
}

static void print_heading(const struct mmap_record *r, const struct report_style *style, FILE *to)
{
    bool b = style->has_color;
    fprintf(to, "%srwsem bench mmap%s: each thread %s\n", b ? STYLE_BOLD : "", b ? STYLE_PLAIN : "",
            r->does);
    fprintf(to, "workload %s: %s\n", r->workload, r->like);
    if (r->uses_size)
        fprintf(to, "%s a mapping, ", number_size(r->size).text);
    if (r->uses_touch)
        fprintf(to, "touched: %s%s, ", r->touch, r->is_populated ? ", MAP_POPULATE" : "");
    if (r->is_timed)
        fprintf(to, "%u round%s of %s a gate", r->rounds, r->rounds > 1 ? "s" : "",
                number_time((double)r->cell_ns / r->rounds).text);
    else
        fprintf(to, "%u round%s of %s iterations a thread", r->rounds, r->rounds > 1 ? "s" : "",
                number_whole((double)r->iterations).text);
    fprintf(to, ", shuffled with seed %llu\n", (unsigned long long)r->seed);
    fprintf(to, "this process may use %u CPU%s", r->usable_cpus, r->usable_cpus > 1 ? "s" : "");
    if (r->quota_cpus > 0)
        fprintf(to, " (quota: %.2f)", r->quota_cpus);
    fprintf(to, "%s\n\n", r->is_pinned ? "; threads pinned" : "");
}

static const char *baseline_name(const struct mmap_record *r)
{
    for (unsigned g = 0; r->cell_count && g < r->gate_count; g++)
        if (r->cells[0].variants[g].series.summary.is_baseline)
            return r->cells[0].variants[g].gate;
    return r->gate_count ? r->gates[0] : "none";
}

static bool is_any_starved(const struct mmap_record *r)
{
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++)
            if (r->cells[c].variants[g].series.summary.slowest_share < 0.2)
                return true;
    return false;
}

/* Wide enough for every gate's name. */
static int gate_width(const struct mmap_record *r)
{
    size_t width = 8;
    for (unsigned g = 0; g < r->gate_count; g++)
        width = strlen(r->gates[g]) > width ? strlen(r->gates[g]) : width;
    return (int)width;
}

static void print_throughput(const struct mmap_record *r, const struct report_style *style,
                             FILE *to)
{
    char ratio[80], against[48];
    bool b = style->has_color;
    int width = gate_width(r);

    snprintf(against, sizeof against, "rate / %.14s [95 %%]", baseline_name(r));
    fprintf(to, "%s%7s  %-*s %9s %9s  %-24s %-18s %7s %8s %7s%s\n", b ? STYLE_BOLD : "", "threads",
            width, "gate", "us/iter", "iter/s", against, "verdict", "CPU us", "switches", "slowest",
            b ? STYLE_PLAIN : "");
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++) {
            const struct mmap_variant *v = &r->cells[c].variants[g];
            const struct series_summary *s = &v->series.summary;
            const char *color = verdict_color(&v->series, style);
            format_ratio(&v->series, ratio, sizeof ratio);
            fprintf(to, "%7u  %-*s %9s %9s  %-24s %s%-18s%s %7s %8s %7s\n", r->cells[c].threads,
                    width, v->gate, number_short(s->iteration_ns / 1e3).text,
                    number_whole(s->rate_per_second).text, ratio, color,
                    series_verdict_word(&v->series), *color ? STYLE_PLAIN : "",
                    number_short(s->cpu_ns / 1e3).text, number_short(s->switches).text,
                    number_short(s->slowest_share).text);
        }
    fprintf(to,
            "us/iter: wall time / iterations of one thread, waiting for a CPU included. CPU us, "
            "switches: of one\niteration. slowest: iterations of the slowest thread / mean of "
            "all%s.\n",
            is_any_starved(r) ? "; where it is low, longer rounds (--time) tell more" : "");
}

static void print_latency_row(const struct mmap_record *r, const struct mmap_cell *cell,
                              const struct mmap_variant *v, FILE *to)
{
    fprintf(to, "%7u  %-*s", cell->threads, gate_width(r), v->gate);
    for (unsigned p = 0; p < MMAP_PHASES && r->phases[p]; p++) {
        fprintf(to, " ");
        print_quantiles(&v->phase[p], 2, 7, to);
    }
    fprintf(to, " ");
    print_quantiles(&v->whole, 4, 7, to);
    fprintf(to, "\n");
}

static void print_latency(const struct mmap_record *r, const struct report_style *style, FILE *to)
{
    bool b = style->has_color;
    int width = gate_width(r);

    fprintf(to, "\n%s%-*s", b ? STYLE_BOLD : "", width + 9, "latency in us");
    for (unsigned p = 0; p < MMAP_PHASES && r->phases[p]; p++)
        fprintf(to, "  %15s", r->phases[p]);
    fprintf(to, "  %31s\n%7s  %-*s", "whole iteration", "threads", width, "gate");
    for (unsigned p = 0; p < MMAP_PHASES && r->phases[p]; p++)
        fprintf(to, "  %7s %7s", "p50", "p99");
    fprintf(to, "  %7s %7s %7s %7s%s\n", "p50", "p99", "p99.9", "max", b ? STYLE_PLAIN : "");
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++)
            if (was_measured(&r->cells[c].variants[g]))
                print_latency_row(r, &r->cells[c], &r->cells[c].variants[g], to);
    fprintf(to, "Half of the iterations are faster than p50; time at a gate counts. Quantiles are "
                "within 1.6 %%.\n");
}

/* -v: all four quantiles of every phase. */
static void print_phases(const struct mmap_record *r, FILE *to)
{
    int width = gate_width(r);

    fprintf(to, "\n%7s  %-*s %-12s %12s %9s %9s %9s %9s\n", "threads", width, "gate", "phase",
            "count", "p50 us", "p99", "p99.9", "max");
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++)
            for (unsigned p = 0; p < MMAP_PHASES && r->phases[p]; p++) {
                const struct mmap_variant *v = &r->cells[c].variants[g];
                fprintf(to, "%7u  %-*s %-12s %12s", r->cells[c].threads, width, v->gate,
                        r->phases[p], number_whole((double)v->phase[p].count).text);
                print_quantiles(&v->phase[p], 4, 9, to);
                fprintf(to, "\n");
            }
}

static void print_notes(const struct mmap_record *r, FILE *to)
{
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++) {
            const struct mmap_variant *v = &r->cells[c].variants[g];
            if (v->series.note[0])
                fprintf(to, "%u thread%s, %s: %s: %s\n", r->cells[c].threads,
                        r->cells[c].threads > 1 ? "s" : "", v->gate, outcome_word(v->series.status),
                        v->series.note);
        }
}

static void print_switches(const struct mmap_record *r, FILE *to)
{
    fprintf(to, "\n%-24s %9s %14s\n", "a switch costs", "us", "switches/step");
    for (unsigned k = 0; k < SWITCH_KINDS && r->switch_names[k]; k++) {
        const struct switch_cost *s = &r->switches[k];
        double steps = (double)s->steps * s->rounds;
        if (s->was_measured)
            fprintf(to, "%-24s %9s %14s   %s\n", r->switch_names[k],
                    number_short(s->step_ns / 1e3).text,
                    number_short((double)s->switches / steps).text, r->switch_abouts[k]);
        else
            fprintf(to, "%-24s %9s %14s   not measured: %s\n", r->switch_names[k], "-", "-",
                    s->why_not);
    }
}

/* What measuring cost, and a warning where that is no longer small. */
static void print_overhead(const struct mmap_record *r, FILE *to)
{
    double share = r->overhead_ns / r->fastest_iteration_ns;

    if (!(r->fastest_iteration_ns > 0))
        return;
    fprintf(
        to,
        "\nmeasuring itself: %s ns an iteration (clock: %s), %.2f %% of the fastest cell's mean "
        "of %s%s\n",
        number_short(r->overhead_ns).text, r->clock, 100 * share,
        number_time(r->fastest_iteration_ns).text,
        share > 0.05 ? ": too much to take its figures at face value" : "");
}

void report_mmap_table(const struct mmap_record *r, const struct report_style *style, FILE *to)
{
    print_heading(r, style, to);
    print_throughput(r, style, to);
    print_notes(r, to);
    print_latency(r, style, to);
    if (style->is_verbose)
        print_phases(r, to);
    if (r->has_switches)
        print_switches(r, to);
    print_overhead(r, to);
}

void report_mmap_csv(const struct mmap_record *r, FILE *to)
{
    fprintf(to, "workload,threads,gate,status,rounds,iterations,rate_per_second,iteration_ns,ratio,"
                "ratio_low,ratio_high,verdict,cpu_ns,switches,faults,slowest_share,whole_p50_ns,"
                "whole_p99_ns,whole_p999_ns,whole_max_ns\r\n");
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned g = 0; g < r->gate_count; g++) {
            const struct mmap_variant *v = &r->cells[c].variants[g];
            const struct series_summary *s = &v->series.summary;
            bool has_interval = s->ratio.has_interval;
            fprintf(to, "%s,%u,%s,%s,%u,%llu", r->workload, r->cells[c].threads, v->gate,
                    outcome_word(v->series.status), v->series.rounds_run,
                    (unsigned long long)v->whole.count);
            print_csv_number(s->rate_per_second, to);
            print_csv_number(s->iteration_ns, to);
            print_csv_number(s->is_baseline ? 1 : s->ratio.ratio, to);
            print_csv_number(s->is_baseline ? 1 : has_interval ? s->ratio.low : NAN, to);
            print_csv_number(s->is_baseline ? 1 : has_interval ? s->ratio.high : NAN, to);
            fprintf(to, ",%s", series_verdict_word(&v->series));
            print_csv_number(s->cpu_ns, to);
            print_csv_number(s->switches, to);
            print_csv_number(s->faults, to);
            print_csv_number(s->slowest_share, to);
            print_csv_quantiles(&v->whole, to);
            fprintf(to, "\r\n");
        }
}

static void print_classic_line(const struct mmap_cell *cell, const struct mmap_variant *v, FILE *to)
{
    if (!was_measured(v) || !isfinite(v->series.summary.iteration_ns)) {
        fprintf(to, "Mmap Time [%s]: %s%s%s\n", v->classic_gate, outcome_word(v->series.status),
                v->series.note[0] ? ": " : "", v->series.note);
        return;
    }
    /* The round that is nearest to the median: for the one round of 2011, that round. */
    const struct round_figures *shown = &v->series.rounds[0];
    double least = INFINITY;
    for (unsigned i = 0; i < v->series.rounds_run; i++) {
        const struct round_figures *round = &v->series.rounds[i];
        double ns = (double)round->elapsed_ns * cell->threads / (double)round->iterations;
        if (fabs(ns - v->series.summary.iteration_ns) < least) {
            least = fabs(ns - v->series.summary.iteration_ns);
            shown = round;
        }
    }
    double latency_ns = (double)shown->elapsed_ns * cell->threads / (double)shown->iterations;
    fprintf(to, "Mmap Time [%s]: %.4fs, Latency: %.4fus", v->classic_gate,
            (double)shown->elapsed_ns / 1e9, latency_ns / 1e3);
    if (v->series.note[0])
        fprintf(to, " (%s: %s)", outcome_word(v->series.status), v->series.note);
    fprintf(to, "\n");
}

void report_mmap_classic(const struct mmap_record *r, FILE *to)
{
    const struct switch_cost *yield = &r->switches[SWITCH_YIELD];

    if (r->has_switches && yield->was_measured)
        fprintf(to, "Yield Time: %.4fs, Latency: %.4fus\n",
                yield->step_ns * (double)yield->steps / 1e9, yield->step_ns / 1e3);
    else if (r->has_switches)
        fprintf(to, "Yield Time: not measured: %s\n", yield->why_not);
    for (unsigned c = 0; c < r->cell_count; c++) {
        if (r->cell_count > 1)
            fprintf(to, "%s%u thread%s\n", c ? "\n" : "", r->cells[c].threads,
                    r->cells[c].threads > 1 ? "s" : "");
        for (unsigned g = 0; g < r->gate_count; g++)
            print_classic_line(&r->cells[c], &r->cells[c].variants[g], to);
    }
}
