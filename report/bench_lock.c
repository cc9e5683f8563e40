/* Prints the record of `rwsem bench lock`. Reads the record only. */
#include "report/bench_lock.h"
#include "report/number.h"
#include <math.h>

static void print_heading(const struct lock_record *r, const struct report_style *style, FILE *to)
{
    bool b = style->has_color;
    fprintf(
        to,
        "%srwsem bench lock%s: the same work under each lock; this process may use %u CPU%s%s\n",
        b ? STYLE_BOLD : "", b ? STYLE_PLAIN : "", r->usable_cpus, r->usable_cpus > 1 ? "s" : "",
        r->is_pinned ? ", threads pinned" : "");
    fprintf(to,
            "each lock and cell: %u rounds of %s for rates, then %u of %s with every wait timed; "
            "shuffled with seed %llu\n",
            r->rounds, number_time((double)r->cell_ns / r->rounds).text, r->timed_rounds,
            number_time((double)r->timed_ns / r->timed_rounds).text, (unsigned long long)r->seed);
}

static void print_case(const struct lock_case *is, const struct report_style *style, FILE *to)
{
    bool b = style->has_color;

    fprintf(to, "\n%s%s: ", b ? STYLE_BOLD : "", is->preset);
    if (is->writers)
        fprintf(to, "%u writing and %u reading thread%s", is->writers, is->threads - is->writers,
                is->threads - is->writers == 1 ? "" : "s");
    else if (is->write_share >= 1 || is->write_share <= 0)
        fprintf(to, "%u thread%s, %s only", is->threads, is->threads > 1 ? "s" : "",
                is->write_share > 0 ? "writes" : "reads");
    else
        fprintf(to, "%u threads, %.3g %% writes", is->threads, 100 * is->write_share);
    fprintf(to, "; %s inside, %s outside%s\n", number_time((double)is->inside_ns).text,
            number_time((double)is->outside_ns).text, b ? STYLE_PLAIN : "");
}

static bool has_reads(const struct lock_case *is)
{
    return is->writers ? is->writers < is->threads : is->write_share < 1;
}

static bool has_writes(const struct lock_case *is)
{
    return is->writers || is->write_share > 0;
}

static void print_variant(const struct lock_cell *cell, const struct lock_variant *v,
                          const struct report_style *style, FILE *to)
{
    const struct series_summary *s = &v->series.summary;
    const char *color = verdict_color(&v->series, style);
    char ratio[80];

    if (v->series.status != OUTCOME_OK && v->series.status != OUTCOME_COLLAPSED) {
        fprintf(to, "  %-16s %s%s%s\n", v->lock, outcome_word(v->series.status),
                v->series.note[0] ? ": " : "", v->series.note);
        return;
    }
    format_ratio(&v->series, ratio, sizeof ratio);
    fprintf(to, "%s %-16s %12s %s%-26s%s",
            v->place == PLACE_FIRST   ? "*"
            : v->place == PLACE_LEVEL ? "="
            : v->beaten_by            ? "!"
                                      : " ",
            v->lock, number_whole(s->rate_per_second).text, color, ratio,
            *color ? STYLE_PLAIN : "");
    if (cell->is.writers)
        fprintf(to, " %11s %11s", number_whole(v->reads_per_second).text,
                number_whole(v->writes_per_second).text);
    fprintf(to, " %8s %8s %8s", number_short(s->cpu_ns).text, number_short(s->switches).text,
            number_short(s->slowest_share).text);
    static const double q[] = {0.99, 0.999, 1};
    for (int side = 0; side < 2; side++) {
        const struct hist *h = side ? &v->write_wait : &v->read_wait;
        if (side ? !has_writes(&cell->is) : !has_reads(&cell->is))
            continue;
        for (unsigned i = 0; i < 3; i++)
            fprintf(to, " %9s",
                    h->count ? number_short((double)hist_quantile_ns(h, q[i]) / 1e3).text : "-");
    }
    fprintf(to, "\n");
}

static void print_columns(const struct lock_case *is, const struct lock_record *r, FILE *to)
{
    char against[48];

    snprintf(against, sizeof against, "to %.16s [95 %%]", r->locks[0]);
    fprintf(to, "  %-16s %12s %-26s", "lock", "operations/s", against);
    if (is->writers)
        fprintf(to, " %11s %11s", "reads/s", "writes/s");
    fprintf(to, " %8s %8s %8s", "CPU ns", "switches", "slowest");
    if (has_reads(is))
        fprintf(to, " %9s %9s %9s", "rd p99 us", "p99.9", "max");
    if (has_writes(is))
        fprintf(to, " %9s %9s %9s", "wr p99 us", "p99.9", "max");
    fprintf(to, "\n");
}

/* The fastest of the cell's locks but the first, or NULL. */
static const struct lock_variant *best_other(const struct lock_record *r,
                                             const struct lock_cell *cell)
{
    const struct lock_variant *best = NULL;

    for (unsigned i = 1; i < r->lock_count; i++) {
        const struct lock_variant *v = &cell->variants[i];
        if (lock_competes(v) &&
            (!best || v->series.summary.rate_per_second > best->series.summary.rate_per_second))
            best = v;
    }
    return best;
}

/* How the first lock stands against the best of the others, whichever that is in each case. */
static void print_standing(const struct lock_record *r, FILE *to)
{
    const struct lock_cell *worst = NULL;
    double logs = 0, least = INFINITY;
    unsigned cells = 0, beaten = 0;

    for (unsigned c = 0; c < r->cell_count; c++) {
        const struct lock_cell *cell = &r->cells[c];
        const struct lock_variant *first = &cell->variants[0], *other = best_other(r, cell);
        if (!other || !lock_competes(first))
            continue;
        double ratio =
            first->series.summary.rate_per_second / other->series.summary.rate_per_second;
        logs += log(ratio);
        cells++;
        beaten += first->beaten_by != NULL;
        if (ratio < least) {
            least = ratio;
            worst = cell;
        }
    }
    if (cells < 2)
        return;
    fprintf(to,
            "\n%s against the best other lock of each case: geometric mean %s over %u cases, least "
            "%s (%s, %u thread%s, %s);\nbeaten in rate and longest waits at once in %u.\n",
            r->locks[0], number_short(exp(logs / cells)).text, cells, number_short(least).text,
            worst->is.preset, worst->is.threads, worst->is.threads > 1 ? "s" : "",
            best_other(r, worst)->lock, beaten);
}

void report_lock_table(const struct lock_record *r, const struct report_style *style, FILE *to)
{
    print_heading(r, style, to);
    if (r->interrupted_by)
        fprintf(to, "The run was interrupted: what follows is from the part that was done.\n");
    for (unsigned c = 0; c < r->cell_count; c++) {
        print_case(&r->cells[c].is, style, to);
        print_columns(&r->cells[c].is, r, to);
        for (unsigned i = 0; i < r->lock_count; i++)
            print_variant(&r->cells[c], &r->cells[c].variants[i], style, to);
    }
    fprintf(
        to,
        "\n* best median rate of the cell, = no difference seen to it, ! another lock is faster "
        "and has shorter longest waits.\nCPU ns, switches: CPU time and context switches an "
        "operation. "
        "slowest: the slowest thread's operations by a fair\nshare (of its role). rd, wr: waits of "
        "readers and of writers, from asking to having. The loop itself, without a\nlock: %s ns an "
        "operation.\n",
        number_short(r->loop_ns).text);
    print_standing(r, to);
}

void report_lock_csv(const struct lock_record *r, FILE *to)
{
    fprintf(to, "preset,threads,writers,write_share,inside_ns,outside_ns,lock,status,place,"
                "rate_per_second,ratio,ratio_low,ratio_high,cpu_ns,switches,slowest_share,"
                "read_wait_p50_ns,read_wait_p99_ns,read_wait_p999_ns,read_wait_max_ns,"
                "write_wait_p50_ns,write_wait_p99_ns,write_wait_p999_ns,write_wait_max_ns,"
                "beaten_by\r\n");
    for (unsigned c = 0; c < r->cell_count; c++)
        for (unsigned i = 0; i < r->lock_count; i++) {
            const struct lock_case *is = &r->cells[c].is;
            const struct lock_variant *v = &r->cells[c].variants[i];
            const struct series_summary *s = &v->series.summary;
            bool has_interval = s->ratio.has_interval && !s->is_baseline;
            fprintf(to, "%s,%u,%u", is->preset, is->threads, is->writers);
            print_csv_number(is->writers ? NAN : is->write_share, to);
            fprintf(to, ",%llu,%llu,%s,%s,%s", (unsigned long long)is->inside_ns,
                    (unsigned long long)is->outside_ns, v->lock, outcome_word(v->series.status),
                    lock_place_word(v->place));
            print_csv_number(s->rate_per_second, to);
            print_csv_number(s->is_baseline ? 1 : s->ratio.ratio, to);
            print_csv_number(s->is_baseline ? 1 : has_interval ? s->ratio.low : NAN, to);
            print_csv_number(s->is_baseline ? 1 : has_interval ? s->ratio.high : NAN, to);
            print_csv_number(s->cpu_ns, to);
            print_csv_number(s->switches, to);
            print_csv_number(s->slowest_share, to);
            print_csv_quantiles(&v->read_wait, to);
            print_csv_quantiles(&v->write_wait, to);
            fprintf(to, ",%s\r\n", v->beaten_by ? v->beaten_by : "");
        }
}
