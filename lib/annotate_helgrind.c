/* Helgrind, by its client requests: a few instructions without effect outside of Valgrind. */
#include "annotate.h"
#include <valgrind/helgrind.h>

/* Memcheck and callgrind, which say no to this, shall see what is there without us. The no is a -2
 * of 32 bits in a long. */
static bool is_here(void)
{
    unsigned char byte = 0, bits = 0;

    return RUNNING_ON_VALGRIND && (int)VALGRIND_HG_GET_ABITS(&byte, &bits, 1) != -2;
}

/* A lock may be anywhere that another one was, which was never destroyed. */
static void is_made(rwsem_t *sem)
{
    ANNOTATE_RWLOCK_CREATE(sem);
    ANNOTATE_RWLOCK_DESTROY(sem);
    ANNOTATE_RWLOCK_CREATE(sem);
}

/* Helgrind complains of the end of a lock that it has never seen, and one that was only zeroed and
 * never taken is such a lock. */
static void is_gone(rwsem_t *sem)
{
    ANNOTATE_RWLOCK_CREATE(sem);
    ANNOTATE_RWLOCK_DESTROY(sem);
}

static void took(rwsem_t *sem, enum rwsem__mode mode, bool may_fail)
{
    ANNOTATE_RWLOCK_ACQUIRED(sem, mode == MODE_WRITE);
}

static void gives(rwsem_t *sem, enum rwsem__mode mode)
{
    ANNOTATE_RWLOCK_RELEASED(sem, mode == MODE_WRITE);
}

/* Ends by itself where the memory is freed, or the stack frame left. */
static void ignores(const void *start, size_t size)
{
    VALGRIND_HG_DISABLE_CHECKING(start, size);
}

const struct rwsem__tool rwsem__helgrind = {
    .is_here = is_here,
    .is_made = is_made,
    .is_gone = is_gone,
    .took = took,
    .gives = gives,
    .ignores = ignores,
};
