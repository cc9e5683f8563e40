/* The outcome of comparing one variant with the baseline, as records and reports carry it. */
#ifndef RESULT_RATIO_H
#define RESULT_RATIO_H

#include <stdbool.h>
#include <stddef.h>

struct stats_ratio {
    double ratio;      /* the estimate; NAN without a single pair of two positive samples */
    double low, high;  /* the interval; NAN where has_interval is false */
    double confidence; /* what the interval really covers, at least what was asked */
    size_t pairs;      /* pairs that were used */
    bool has_interval; /* false with too few pairs (under 6 for 95 %) */
};

enum stats_verdict {
    VERDICT_NONE,          /* too few rounds for an interval */
    VERDICT_NO_DIFFERENCE, /* the interval does not exclude "less than STATS_LEAST_EFFECT apart" */
    VERDICT_FASTER,
    VERDICT_SLOWER,
};

#endif
