/*
 * Tells race checkers what the locks do: Helgrind, DRD, and ThreadSanitizer where the program is
 * built with it and the library is not. They cannot see it by themselves, for they know no futex.
 *
 * Under such a tool every operation goes out of line, by the same door as debug mode, and says here
 * what it is about to do and has done. Elsewhere each call is a test of one flag in the slow path;
 * the inlined fast paths do not know of any of this.
 */
#ifndef LIB_ANNOTATE_H
#define LIB_ANNOTATE_H

#include "queue.h"
#include <stddef.h>

/* One race checker. Calls that it has no use for are NULL. `mode` is that of the hold. */
struct rwsem__tool {
    bool (*is_here)(void);
    void (*is_made)(rwsem_t *sem);
    void (*is_gone)(rwsem_t *sem);
    void (*asks)(rwsem_t *sem, enum rwsem__mode mode, bool may_fail);
    void (*took)(rwsem_t *sem, enum rwsem__mode mode, bool may_fail);
    void (*failed)(rwsem_t *sem, enum rwsem__mode mode);
    void (*gives)(rwsem_t *sem, enum rwsem__mode mode); /* before: the last moment it is held */
    void (*gave)(rwsem_t *sem, enum rwsem__mode mode);  /* after: the lock's memory may be gone */
    void (*ignores)(const void *start, size_t size);    /* accesses there are the library's own */
};

#ifdef RWSEM_ANNOTATE

extern const struct rwsem__tool rwsem__helgrind, rwsem__drd, rwsem__tsan;

/* The tool that this process runs under, or NULL. Set once, before main(). */
extern const struct rwsem__tool *rwsem__tool;

/* Looks for a tool; true: there is one. */
bool rwsem__start_annotating(void);

#else

static const struct rwsem__tool *const rwsem__tool = NULL;

static inline bool rwsem__start_annotating(void)
{
    return false;
}

#endif

#define ANNOTATE(call, ...)                                                                        \
    do {                                                                                           \
        if (__builtin_expect(rwsem__tool != NULL, 0) && rwsem__tool->call)                         \
            rwsem__tool->call(__VA_ARGS__);                                                        \
    } while (0)

#endif
