/*
 * What the library's sources see in place of the atomics when they are compiled for the explorer:
 * each access to a lock or a node is a point at which the explorer may run another thread. All
 * threads are coroutines of one, so that the access itself can be plain, and every interleaving is
 * sequentially consistent: weaker orders are not explored here.
 */
#ifndef EXPLORE_SEAM_H
#define EXPLORE_SEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void explore_point(const volatile void *address, size_t size, const char *what);
void explore_wrote(const volatile void *address);
uint64_t *explore_self(void);

#define RWSEM__LOAD(p, order)                                                                      \
    ({                                                                                             \
        explore_point((p), sizeof(*(p)), "load");                                                  \
        *(p);                                                                                      \
    })
#define RWSEM__STORE(p, v, order)                                                                  \
    ({                                                                                             \
        explore_point((p), sizeof(*(p)), "store");                                                 \
        *(p) = (v);                                                                                \
        explore_wrote(p);                                                                          \
    })
#define EXPLORE_RMW(p, op, v, name)                                                                \
    ({                                                                                             \
        explore_point((p), sizeof(*(p)), name);                                                    \
        __typeof__(*(p)) explore_old = *(p);                                                       \
        *(p) = explore_old op(v);                                                                  \
        explore_wrote(p);                                                                          \
        explore_old;                                                                               \
    })
#define RWSEM__ADD(p, v, order) EXPLORE_RMW(p, +, v, "add")
#define RWSEM__SUB(p, v, order) EXPLORE_RMW(p, -, v, "sub")
#define RWSEM__AND(p, v, order) EXPLORE_RMW(p, &, v, "and")
#define RWSEM__OR(p, v, order)  EXPLORE_RMW(p, |, v, "or")
#define RWSEM__CAS(p, seen, v, order)                                                              \
    ({                                                                                             \
        explore_point((p), sizeof(*(p)), "cas");                                                   \
        __typeof__(*(p)) explore_old = *(p);                                                       \
        bool explore_is_equal = explore_old == *(seen);                                            \
        if (explore_is_equal) {                                                                    \
            *(p) = (v);                                                                            \
            explore_wrote(p);                                                                      \
        } else {                                                                                   \
            *(seen) = explore_old;                                                                 \
        }                                                                                          \
        explore_is_equal;                                                                          \
    })
#define RWSEM__SELF (*explore_self())

#endif
