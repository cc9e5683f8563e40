/*
 * A log-linear histogram of nanoseconds: 32 buckets for each power of two, so that a quantile read
 * from it is within 1.6 % of the sample it stands for, from 0 ns to 2^40 ns (18 minutes). Values
 * beyond that are counted in the last bucket; the exact least and greatest value and the sum are
 * kept beside the buckets. Histograms of threads and rounds merge by adding.
 *
 * Not safe for two threads at once: each thread fills its own and somebody merges after the join.
 */
#ifndef RESULT_HIST_H
#define RESULT_HIST_H

#include <stddef.h>
#include <stdint.h>

enum {
    HIST_SUB_BITS = 5,
    HIST_SUB = 1 << HIST_SUB_BITS,
    HIST_TOP_BITS = 40,
    HIST_BUCKETS = (HIST_TOP_BITS - HIST_SUB_BITS + 1) * HIST_SUB,
};

struct hist {
    uint64_t count;
    uint64_t sum_ns; /* stays at UINT64_MAX once it would pass it */
    uint64_t min_ns; /* meaningless while count is 0 */
    uint64_t max_ns;
    uint64_t bucket[HIST_BUCKETS];
};

/* The bucket that counts `ns`. Values below 32 have one each. */
static inline size_t hist_index(uint64_t ns)
{
    if (ns < HIST_SUB)
        return ns;
    if (ns >> HIST_TOP_BITS)
        return HIST_BUCKETS - 1;
    unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - HIST_SUB_BITS;
    return ((size_t)(shift + 1) << HIST_SUB_BITS) + ((ns >> shift) & (HIST_SUB - 1));
}

/* Part of measured loops: allocates nothing, branches little. */
static inline void hist_add(struct hist *h, uint64_t ns)
{
    h->bucket[hist_index(ns)]++;
    h->min_ns = h->count == 0 || ns < h->min_ns ? ns : h->min_ns;
    h->max_ns = ns > h->max_ns ? ns : h->max_ns;
    if (__builtin_add_overflow(h->sum_ns, ns, &h->sum_ns))
        h->sum_ns = UINT64_MAX;
    h->count++;
}

/*
 * The least value that bucket `index` counts, and the least that the next one does; UINT64_MAX for
 * the last bucket, which has no next one.
 */
uint64_t hist_lower_ns(size_t index);
uint64_t hist_upper_ns(size_t index);

/* Adds all of `from` to `into`. */
void hist_merge(struct hist *into, const struct hist *from);

/*
 * The value below or at which a share `q` (0 to 1) of the samples lie: the sample of rank
 * ceil(q * count), told as the middle of its bucket and held within the least and greatest sample.
 * q = 0 gives the exact least sample, q = 1 the exact greatest. A quantile among samples beyond
 * 2^40 ns is told as the greatest of them. 0 for an empty histogram.
 */
uint64_t hist_quantile_ns(const struct hist *h, double q);

#endif
