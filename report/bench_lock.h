/* What `rwsem bench lock` prints of its record. */
#ifndef REPORT_BENCH_LOCK_H
#define REPORT_BENCH_LOCK_H

#include "report/style.h"
#include "result/bench_lock.h"

/* A block a cell: rates, ratios, waits, CPU time; who is first and who is level with that. */
void report_lock_table(const struct lock_record *record, const struct report_style *style,
                       FILE *to);

/* A header line, then a line a cell and lock; RFC 4180. */
void report_lock_csv(const struct lock_record *record, FILE *to);

#endif
