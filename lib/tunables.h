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

/* Sets *value to the number in the environment variable; leaves it alone where there is none, or,
 * with a message that says what `unit` it wants, a wrong one. */
void rwsem__load_number(const char *variable, const char *unit, uint64_t min, uint64_t max,
                        uint64_t *value);

#endif
