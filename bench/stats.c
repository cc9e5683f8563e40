/*
 * Hodges and Lehmann's estimate of a ratio with the limits of Wilcoxon's signed-rank test, on the
 * logarithms of paired ratios. See Hollander and Wolfe, "Nonparametric Statistical Methods",
 * chapter 3, for both.
 */
#include "bench/stats.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Up to so many the distribution of the signed-rank sum is counted out; beyond, it is normal. */
enum { EXACT_PAIRS_MAX = 60 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_quantile_sorted(const double *sorted, size_t n, double q)
{
    if (n == 0)
        return NAN;
    double place = q * (double)(n - 1);
    size_t below = (size_t)place;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

double stats_median(double *values, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(values, n, sizeof *values, compare_doubles);
    return stats_quantile_sorted(values, n, 0.5);
}

/*
 * The largest sum of ranks that is still in the lower tail: P(signed-rank sum of n pairs <= sum) is
 * at most `tail`, and *below that probability. False if even a sum of 0 is likelier. The exact
 * distribution: ranks 1 to n each count with probability 1/2, so it is built up rank by rank.
 */
static bool exact_tail(size_t n, double tail, size_t *sum, double *below)
{
    double share[EXACT_PAIRS_MAX * (EXACT_PAIRS_MAX + 1) / 2 + 1] = {1};
    size_t most = 0, s;
    double p = 0;

    for (size_t rank = 1; rank <= n; rank++) {
        most += rank;
        for (s = most + 1; s-- > 0;)
            share[s] = 0.5 * (share[s] + (s >= rank ? share[s - rank] : 0));
    }
    for (s = 0; s <= most && p + share[s] <= tail; s++)
        p += share[s];
    if (s == 0)
        return false;
    *sum = s - 1;
    *below = p;
    return true;
}

/* The same by the normal distribution with continuity correction, for more pairs than that. */
static bool normal_tail(size_t n, double tail, size_t *sum, double *below)
{
    double mean = (double)n * (double)(n + 1) / 4;
    double deviation = sqrt(mean * (double)(2 * n + 1) / 6);
    size_t low = 0, high = (size_t)mean; /* P(<= low) is taken for small enough, P(<= high) not */

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (erfc((mean - ((double)middle + 0.5)) / deviation / sqrt(2)) / 2 <= tail)
            low = middle;
        else
            high = middle;
    }
    *sum = low;
    *below = erfc((mean - ((double)low + 0.5)) / deviation / sqrt(2)) / 2;
    return *below <= tail;
}

/*
 * The interval runs from the (sum+1)-th smallest of the n(n+1)/2 Walsh averages to the (sum+1)-th
 * greatest, since the true shift lies below the k-th smallest only if the signed-rank sum is less
 * than k. Ties and zeros (log ratios that are equal, or 0) stay in: a jitter too small to matter
 * would make the values distinct, for which all this holds, and as the interval is closed it still
 * holds when the jitter goes to nothing: it then covers no less than it says. Dropping zeros, as
 * the test does, would throw away the very rounds that say "no difference".
 */
static bool walsh_cut(size_t n, double confidence, size_t *cut, double *covered)
{
    double tail = (1 - confidence) / 2, below;
    size_t sum;
    bool is_found = n > EXACT_PAIRS_MAX ? normal_tail(n, tail, &sum, &below)
                                        : n > 0 && exact_tail(n, tail, &sum, &below);

    if (!is_found)
        return false;
    *cut = sum + 1;
    *covered = 1 - 2 * below;
    return true;
}

/*
 * Nothing against something is a ratio of 0, or infinite: left out, rounds in which a variant stood
 * still would count for it. Only its rank matters, and a number keeps averages defined; exp() of
 * it, and of its half, is 0 or more than any ratio.
 */
#define LOG_OF_INFINITE 1e4

static size_t collect_log_ratios(const double *a, const double *b, size_t n, double *logs)
{
    size_t pairs = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(a[i] >= 0 && b[i] >= 0 && isfinite(a[i]) && isfinite(b[i])) ||
            (a[i] == 0 && b[i] == 0))
            continue;
        logs[pairs++] = a[i] == 0   ? -LOG_OF_INFINITE
                        : b[i] == 0 ? LOG_OF_INFINITE
                                    : log(a[i]) - log(b[i]);
    }
    return pairs;
}

int stats_compare(const double *a, const double *b, size_t n, double confidence,
                  struct stats_ratio *out)
{
    struct stats_ratio result = {.ratio = NAN, .low = NAN, .high = NAN, .confidence = NAN};
    double *logs = calloc(n ? n : 1, sizeof *logs), *walsh = NULL;
    int error = -ENOMEM;
    size_t cut, count = 0;

    if (!logs)
        goto out;
    size_t pairs = collect_log_ratios(a, b, n, logs);
    walsh = calloc(pairs * (pairs + 1) / 2 + 1, sizeof *walsh);
    if (!walsh)
        goto out;
    for (size_t i = 0; i < pairs; i++)
        for (size_t j = i; j < pairs; j++)
            walsh[count++] = (logs[i] + logs[j]) / 2;
    result.pairs = pairs;
    if (pairs)
        result.ratio = exp(stats_median(walsh, count)); /* sorts them, too */
    if (walsh_cut(pairs, confidence, &cut, &result.confidence)) {
        result.has_interval = true;
        result.low = exp(walsh[cut - 1]);
        result.high = exp(walsh[count - cut]);
    }
    *out = result;
    error = 0;
out:
    free(walsh);
    free(logs);
    return error;
}

enum stats_verdict stats_judge(const struct stats_ratio *r)
{
    if (!r->has_interval)
        return VERDICT_NONE;
    if (r->low > 1 + STATS_LEAST_EFFECT)
        return VERDICT_FASTER;
    if (r->high < 1 / (1 + STATS_LEAST_EFFECT)) /* so that swapped variants swap the words */
        return VERDICT_SLOWER;
    return VERDICT_NO_DIFFERENCE;
}
