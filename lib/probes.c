/* The semaphores of the probes: counters that tracers raise while they listen. */
#include "probes.h"

#define DEFINE_PROBE(name)                                                                         \
    __attribute__((section(".probes"))) volatile unsigned short librwsem_##name##_semaphore;
PROBE_LIST(DEFINE_PROBE)
