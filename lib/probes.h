/*
 * USDT probes of provider `librwsem`: a nop each, and where arguments cost something a semaphore
 * that a tracer raises. Without <sys/sdt.h> at build time there are none. docs/lock.md lists them.
 */
#ifndef LIB_PROBES_H
#define LIB_PROBES_H

#ifdef RWSEM_USDT
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define PROBE_LIST(P) P(wait_start) P(acquired) P(released) P(handoff) P(futile_wake)

/* Raised by tracers, which find them through the probe's note. */
#define DECLARE_PROBE(name) extern volatile unsigned short librwsem_##name##_semaphore;
PROBE_LIST(DECLARE_PROBE)
#undef DECLARE_PROBE

#define PROBE_IS_ON(name) __builtin_expect(librwsem_##name##_semaphore, 0)
#define PROBE1(name, a)                                                                            \
    do {                                                                                           \
        if (PROBE_IS_ON(name))                                                                     \
            STAP_PROBE1(librwsem, name, a);                                                        \
    } while (0)
#define PROBE2(name, a, b)                                                                         \
    do {                                                                                           \
        if (PROBE_IS_ON(name))                                                                     \
            STAP_PROBE2(librwsem, name, a, b);                                                     \
    } while (0)
#else
#define PROBE1(name, a)                                                                            \
    do {                                                                                           \
    } while (0)
#define PROBE2(name, a, b)                                                                         \
    do {                                                                                           \
    } while (0)
#endif

#endif
