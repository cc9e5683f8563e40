/* One lock in one round, in a process of its own: what hangs or crashes there ends there. */
#ifndef BENCH_LOCK_APART_H
#define BENCH_LOCK_APART_H

#include "bench/lock_round.h"

/*
 * As lock_round_run(), in a forked child that dies with this process. The caller must have no other
 * thread. A child that has not ended `patience_ns` after the round's time is killed, and the
 * outcome is OUTCOME_HUNG; one that a signal ended has failed; the variant's note says what was
 * seen. Signals that interrupt the run are passed on to the child, which then has two seconds.
 */
int lock_round_run_apart(const struct lock_request *request, uint64_t patience_ns,
                         struct round_figures *round, struct lock_variant *variant);

#endif
