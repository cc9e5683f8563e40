/*
 * What it costs to change from one thread or process to another: the figures that the mail of 2011
 * held against two milliseconds of mmap.
 */
#ifndef BENCH_SWITCH_H
#define BENCH_SWITCH_H

#include "result/switch_cost.h"
#include <stdint.h>

/* "yield", "futex, two CPUs": for records and tables; and one line on what a step is. */
const char *switch_name(enum switch_kind kind);
const char *switch_about(enum switch_kind kind);

/*
 * Measures one kind: `rounds` rounds (at most SWITCH_ROUNDS_MAX) of `steps` steps (made even),
 * pinned as the kind says; the calling thread's own CPUs stay as they are. Blocks for some tenths
 * of a second, and no round may take longer than two. bench_interrupt(), a round that takes too
 * long, or a killed partner end it early with the rounds that were whole. Returns 0, also where
 * there was none (then why_not says why), or -ENOMEM.
 */
int switch_measure(enum switch_kind kind, unsigned rounds, uint64_t steps, struct switch_cost *out);

#endif
