/* From raw rounds to what may be said of them, and the chance that orders rounds. */
#ifndef BENCH_SUMMARY_H
#define BENCH_SUMMARY_H

#include "result/series.h"

/*
 * Fills s->summary, with the ratio to `base` (which may be s itself: the baseline), and the status
 * and note of a series that has collapsed. Summarise the baseline first. 0 or -ENOMEM.
 */
int series_summarise(struct series *s, const struct series *base, const char *base_name);

/* Fills order[n] with a random order of 0 to n-1; `random` is any number, moved on. */
void shuffle_order(unsigned *order, unsigned n, uint64_t *random);

#endif
