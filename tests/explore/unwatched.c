/* In the explorer no lock is watched: statistics and debug mode are left out. */
#include "lib/check.h"

bool rwsem__start_watching(void)
{
    return false;
}

int rwsem__watched_take(rwsem_t *sem, enum rwsem__mode mode, const struct rwsem__limits *limits)
{
    return rwsem__take(sem, mode, limits);
}

bool rwsem__watched_release(rwsem_t *sem, enum rwsem__mode mode)
{
    return true;
}

bool rwsem__watched_change(rwsem_t *sem, enum rwsem__mode mode)
{
    return true;
}

void rwsem__report_destroy(rwsem_t *sem)
{
}

void rwsem__forget(rwsem_t *sem)
{
}
