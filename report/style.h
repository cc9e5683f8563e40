/* What tables share: how they may look, and the formatting of ratios and quantiles. */
#ifndef REPORT_STYLE_H
#define REPORT_STYLE_H

#include "result/hist.h"
#include "result/series.h"
#include <stdio.h>

struct report_style {
    bool has_color;
    bool is_verbose;
};

#define STYLE_BOLD  "\033[1m"
#define STYLE_GREEN "\033[32m"
#define STYLE_RED   "\033[31m"
#define STYLE_PLAIN "\033[0m"

/* "1.21 [1.08, 1.30]", or less where there is less. */
void format_ratio(const struct series *s, char *text, size_t size);

/* The colour of a verdict, or "". */
const char *verdict_color(const struct series *s, const struct report_style *style);

/* p50, p99, p99.9 and the greatest, the first `quantiles` of them, in microseconds, each in a
 * column of `width`. */
void print_quantiles(const struct hist *h, unsigned quantiles, int width, FILE *to);

/* ",x" for lines of comma-separated values; "," for what is not finite. */
void print_csv_number(double x, FILE *to);

/* The same four quantiles in nanoseconds, as four such values. */
void print_csv_quantiles(const struct hist *h, FILE *to);

/* Prints a text of one paragraph in lines of at most 100 columns. */
void print_paragraph(const char *text, FILE *to);

#endif
