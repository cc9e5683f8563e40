/*
 * Bucket bounds, merging and quantiles of the histogram. Filling it is inline in hist.h, its JSON
 * form in hist_json.c.
 */
#include "result/hist.h"
#include <float.h>

uint64_t hist_lower_ns(size_t index)
{
    if (index < HIST_SUB)
        return index;
    if (index >= HIST_BUCKETS)
        return UINT64_MAX;
    unsigned shift = (unsigned)(index >> HIST_SUB_BITS) - 1;
    return (uint64_t)(HIST_SUB + (index & (HIST_SUB - 1))) << shift;
}

uint64_t hist_upper_ns(size_t index)
{
    return hist_lower_ns(index + 1);
}

void hist_merge(struct hist *into, const struct hist *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min_ns < into->min_ns)
        into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
    if (__builtin_add_overflow(into->sum_ns, from->sum_ns, &into->sum_ns))
        into->sum_ns = UINT64_MAX;
    into->count += from->count;
    for (size_t i = 0; i < HIST_BUCKETS; i++)
        into->bucket[i] += from->bucket[i];
}

/* Rank of the sample asked for, 1 to count. */
static uint64_t rank_of(double q, uint64_t count)
{
    /* 0.07 * 100 is a little over 7 in binary; without the allowance that would be rank 8. */
    double exact = q * (double)count * (1 - 4 * DBL_EPSILON);
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact)
        rank++;
    if (rank < 1)
        return 1;
    return rank < count ? rank : count;
}

static uint64_t middle_of(const struct hist *h, size_t index)
{
    if (index == HIST_BUCKETS - 1 && h->max_ns >> HIST_TOP_BITS)
        return h->max_ns;
    uint64_t lower = hist_lower_ns(index);
    uint64_t upper =
        index == HIST_BUCKETS - 1 ? (uint64_t)1 << HIST_TOP_BITS : hist_upper_ns(index);
    uint64_t middle = lower + (upper - lower) / 2;
    if (middle < h->min_ns)
        return h->min_ns;
    return middle < h->max_ns ? middle : h->max_ns;
}

uint64_t hist_quantile_ns(const struct hist *h, double q)
{
    if (h->count == 0)
        return 0;
    if (!(q > 0))
        return h->min_ns;
    if (q >= 1)
        return h->max_ns;
    uint64_t rank = rank_of(q, h->count);
    uint64_t seen = 0;
    for (size_t i = 0; i < HIST_BUCKETS; i++) {
        seen += h->bucket[i];
        if (seen >= rank)
            return middle_of(h, i);
    }
    return h->max_ns;
}
