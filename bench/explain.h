/* Why a system call failed in the middle of a run, said so that somebody can act on it. */
#ifndef BENCH_EXPLAIN_H
#define BENCH_EXPLAIN_H

#include "bench/workload.h"

/*
 * Writes one line to `text`: the call, the error, and for exhausted memory which limit it was and
 * what to try. Allocates nothing, since memory may be what is missing.
 */
void explain_failure(const char *call, int error, const struct bench_job *job, char *text,
                     size_t text_size);

/* The same for threads that could not be started. */
void explain_threads(unsigned started, unsigned wanted, int error, char *text, size_t text_size);

#endif
