/* The processor's time-stamp counter, where there is one: all that differs between architectures.
 */
#ifndef RESULT_TSC_H
#define RESULT_TSC_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>

static inline uint64_t tsc_read(void)
{
    return __builtin_ia32_rdtsc();
}

/* CPUID 8000_0007h, EDX bit 8: the counter runs at one rate in every power state. */
static inline bool tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}
#else
static inline uint64_t tsc_read(void)
{
    return 0;
}

static inline bool tsc_is_invariant(void)
{
    return false;
}
#endif

#endif
