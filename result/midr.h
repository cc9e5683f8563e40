/* Names of Arm processors, which /proc/cpuinfo gives as numbers. */
#ifndef RESULT_MIDR_H
#define RESULT_MIDR_H

#include <stddef.h>

/* The name of implementer and part of the main identification register; the numbers if unknown. */
void midr_name(unsigned implementer, unsigned part, char *name, size_t size);

#endif
