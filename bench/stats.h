/*
 * The statistics of comparisons. Variants are measured in interleaved rounds, so that round i of
 * one pairs with round i of the other and a drifting machine cancels out. The ratio and its
 * interval are Hodges and Lehmann's: the median of the pairwise (Walsh) averages of the log ratios
 * with the limits of Wilcoxon's signed-rank test. The verdict
 * supposes no distribution, only that under "no difference" a round is as likely to favour one
 * variant as the other, which interleaving in shuffled order gives; the limits as such further
 * suppose rounds that are independent and log ratios that lie symmetrically about the true one. One
 * wild round cannot move them far.
 */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include "result/ratio.h"
#include <stddef.h>

/* Differences below this are not worth a word, whatever their significance. */
#define STATS_LEAST_EFFECT 0.01

/*
 * Compares `a` with `b`, n rounds each, a[i] and b[i] from the same round. Pairs in which either
 * is negative or not finite, or both are 0, are left out; 0 against more than 0 counts.
 * `confidence` as 0.95. Returns 0 or -ENOMEM.
 */
int stats_compare(const double *a, const double *b, size_t n, double confidence,
                  struct stats_ratio *out);

/* What may be said of a ratio of rates (more is faster). */
enum stats_verdict stats_judge(const struct stats_ratio *r);

/* Median of n values, none of them NAN (NAN for n = 0); sorts the array in place. */
double stats_median(double *values, size_t n);

/* Quantile q of n sorted values, linear between neighbours (type 7 of Hyndman and Fan). */
double stats_quantile_sorted(const double *sorted, size_t n, double q);

#endif
