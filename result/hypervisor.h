/* Asking the processor itself which hypervisor it runs under; only x86 can. */
#ifndef RESULT_HYPERVISOR_H
#define RESULT_HYPERVISOR_H

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

/* The 12-byte signature of the hypervisor's leaf; false when not under one. */
static inline bool cpuid_hypervisor(char signature[13])
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
        return false;
    __cpuid(0x40000000, a, b, c, d);
    memcpy(signature, &b, 4);
    memcpy(signature + 4, &c, 4);
    memcpy(signature + 8, &d, 4);
    signature[12] = '\0';
    return true;
}

#else

static inline bool cpuid_hypervisor(char signature[13])
{
    signature[0] = '\0';
    return false;
}

#endif
#endif
