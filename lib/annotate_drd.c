/* DRD, by its client requests. Its header and Helgrind's define the same names: a file each. */
#include "annotate.h"
#include <valgrind/drd.h>

/* A number above 0 from DRD, 0 from all others. */
static bool is_here(void)
{
    return RUNNING_ON_VALGRIND && DRD_GET_DRD_THREADID != 0;
}

static void took(rwsem_t *sem, enum rwsem__mode mode, bool may_fail)
{
    ANNOTATE_RWLOCK_ACQUIRED(sem, mode == MODE_WRITE);
}

static void gives(rwsem_t *sem, enum rwsem__mode mode)
{
    ANNOTATE_RWLOCK_RELEASED(sem, mode == MODE_WRITE);
}

/* Taken first, for DRD complains of the end of a lock that it has never seen. */
static void is_gone(rwsem_t *sem)
{
    took(sem, MODE_WRITE, false);
    gives(sem, MODE_WRITE);
    ANNOTATE_RWLOCK_DESTROY(sem);
}

static void ignores(const void *start, size_t size)
{
    ANNOTATE_BENIGN_RACE_SIZED(start, size, "librwsem's own");
}

const struct rwsem__tool rwsem__drd = {
    .is_here = is_here,
    .is_gone = is_gone,
    .took = took,
    .gives = gives,
    .ignores = ignores,
};
