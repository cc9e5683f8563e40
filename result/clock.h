/*
 * The clock of measured loops: the time-stamp counter where the kernel itself trusts it as clock
 * source (about 10 ns a reading on a virtual machine of 2026), CLOCK_MONOTONIC elsewhere (24 ns).
 * Call clock_init() once before the first reading.
 */
#ifndef RESULT_CLOCK_H
#define RESULT_CLOCK_H

#include "result/tsc.h"
#include <stdint.h>
#include <time.h>

struct measuring_clock {
    uint64_t ns_per_tick_q32; /* nanoseconds a tick, times 2^32; 0: ticks are nanoseconds */
    const char *name;         /* "tsc" or "CLOCK_MONOTONIC", for the record */
};

extern struct measuring_clock measuring_clock; /* written by clock_init() only */

/* Chooses and calibrates the clock; takes about 20 ms. Idempotent. */
void clock_init(void);

static inline uint64_t clock_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Ticks since some fixed moment. Not serialising: the processor may move it by a few instructions,
 * which is far below what the loops here time (system calls).
 */
static inline uint64_t clock_ticks(void)
{
    return measuring_clock.ns_per_tick_q32 ? tsc_read() : clock_monotonic_ns();
}

/* Length of a span of ticks; a span that runs backwards (counters of two CPUs apart) counts as 0.
 */
static inline uint64_t clock_span_ns(uint64_t from, uint64_t to)
{
    if (to <= from)
        return 0;
    if (!measuring_clock.ns_per_tick_q32)
        return to - from;
    return (uint64_t)(((unsigned __int128)(to - from) * measuring_clock.ns_per_tick_q32) >> 32);
}

#endif
