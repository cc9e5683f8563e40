/* What `rwsem bench mmap` prints of its record: a table, lines of values, the mail's own lines. */
#ifndef REPORT_BENCH_MMAP_H
#define REPORT_BENCH_MMAP_H

#include "report/style.h"
#include "result/bench_mmap.h"
#include <stdio.h>

/* Throughput and verdicts, then latencies, then the switch costs and what measuring cost. */
void report_mmap_table(const struct mmap_record *record, const struct report_style *style,
                       FILE *to);

/* A header line, then a line a cell and gate; RFC 4180. */
void report_mmap_csv(const struct mmap_record *record, FILE *to);

/* The lines of the benchmark of 2011. */
void report_mmap_classic(const struct mmap_record *record, FILE *to);

/* One paragraph in plain words on what the figures show. Says only what the intervals allow. */
void report_mmap_words(const struct mmap_record *record, FILE *to);

#endif
