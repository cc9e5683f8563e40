/* What tables share. */
#include "report/style.h"
#include "report/number.h"
#include <math.h>
#include <string.h>

static const double quantile_list[] = {0.5, 0.99, 0.999, 1};

void format_ratio(const struct series *s, char *text, size_t size)
{
    const struct stats_ratio *ratio = &s->summary.ratio;

    if (s->summary.is_baseline)
        snprintf(text, size, "1");
    else if (!isfinite(ratio->ratio))
        snprintf(text, size, "-");
    else if (!ratio->has_interval)
        snprintf(text, size, "%s", number_ratio(ratio->ratio).text);
    else
        snprintf(text, size, "%.20s [%.20s, %.20s]", number_ratio(ratio->ratio).text,
                 number_ratio(ratio->low).text, number_ratio(ratio->high).text);
}

const char *verdict_color(const struct series *s, const struct report_style *style)
{
    if (!style->has_color || s->summary.is_baseline || s->status == OUTCOME_NOT_RUN)
        return "";
    if (s->status != OUTCOME_OK || s->summary.verdict == VERDICT_SLOWER)
        return STYLE_RED;
    return s->summary.verdict == VERDICT_FASTER ? STYLE_GREEN : "";
}

void print_quantiles(const struct hist *h, unsigned quantiles, int width, FILE *to)
{
    for (unsigned i = 0; i < quantiles; i++) {
        double us = (double)hist_quantile_ns(h, quantile_list[i]) / 1e3;
        fprintf(to, " %*s", width, h->count ? number_short(us).text : "-");
    }
}

void print_csv_number(double x, FILE *to)
{
    if (isfinite(x))
        fprintf(to, ",%.6g", x);
    else
        fprintf(to, ",");
}

void print_csv_quantiles(const struct hist *h, FILE *to)
{
    for (unsigned i = 0; i < sizeof quantile_list / sizeof quantile_list[0]; i++)
        print_csv_number(h->count ? (double)hist_quantile_ns(h, quantile_list[i]) : NAN, to);
}

void print_paragraph(const char *text, FILE *to)
{
    enum { COLUMNS = 100 };
    size_t column = 0;

    while (*text) {
        size_t space = strspn(text, " \n"), word = strcspn(text + space, " \n");
        if (word && column && column + 1 + word > COLUMNS) {
            fputc('\n', to);
            column = 0;
        } else if (word && column) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", (int)word, text + space);
        column += word;
        text += space + word;
    }
    fputc('\n', to);
}
