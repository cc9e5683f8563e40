/* The process-wide tunables: one table, filled before main() and then only read. */
#ifndef LIB_TUNABLES_H
#define LIB_TUNABLES_H

#include <stdint.h>

struct rwsem__tunables {
#define X(name, unit, def, min, max, reason) uint64_t name;
#include "tunables.def"
#undef X
};

extern struct rwsem__tunables rwsem__tunable;

/* Sets the table from the environment (not in a privileged process); a value that is no number or
 * out of its range is told on stderr and not used. */
void rwsem__load_tunables(void);

#endif
