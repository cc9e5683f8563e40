/*
 * ThreadSanitizer, by the calls that its runtime has for locks of one's own. They are needed where
 * only the program is instrumented: the inlined fast path then is seen, and what the library does
 * after it is not. A library that is instrumented itself needs no telling, and shall not have its
 * own accesses ignored between the calls.
 */
#include "annotate.h"

#if defined(__SANITIZE_THREAD__)
#define IS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_INSTRUMENTED 1
#endif
#endif

#if !defined(IS_INSTRUMENTED) && __has_include(<sanitizer/tsan_interface.h>)
#include <sanitizer/tsan_interface.h>

/* There only in a process that has the runtime. */
#pragma weak __tsan_mutex_create
#pragma weak __tsan_mutex_destroy
#pragma weak __tsan_mutex_pre_lock
#pragma weak __tsan_mutex_post_lock
#pragma weak __tsan_mutex_pre_unlock
#pragma weak __tsan_mutex_post_unlock

static bool is_here(void)
{
    return __tsan_mutex_create && __tsan_mutex_destroy && __tsan_mutex_pre_lock &&
           __tsan_mutex_post_lock && __tsan_mutex_pre_unlock && __tsan_mutex_post_unlock;
}

static unsigned flags_of(enum rwsem__mode mode, bool may_fail)
{
    return (mode == MODE_READ ? __tsan_mutex_read_lock : 0) |
           (may_fail ? __tsan_mutex_try_lock : 0);
}

static void is_made(rwsem_t *sem)
{
    __tsan_mutex_create(sem, __tsan_mutex_not_static);
}

static void is_gone(rwsem_t *sem)
{
    __tsan_mutex_destroy(sem, 0);
}

static void asks(rwsem_t *sem, enum rwsem__mode mode, bool may_fail)
{
    __tsan_mutex_pre_lock(sem, flags_of(mode, may_fail));
}

static void took(rwsem_t *sem, enum rwsem__mode mode, bool may_fail)
{
    __tsan_mutex_post_lock(sem, flags_of(mode, may_fail), 0);
}

static void failed(rwsem_t *sem, enum rwsem__mode mode)
{
    __tsan_mutex_post_lock(sem, flags_of(mode, true) | __tsan_mutex_try_lock_failed, 0);
}

static void gives(rwsem_t *sem, enum rwsem__mode mode)
{
    (void)__tsan_mutex_pre_unlock(sem, flags_of(mode, false));
}

static void gave(rwsem_t *sem, enum rwsem__mode mode)
{
    __tsan_mutex_post_unlock(sem, flags_of(mode, false));
}

const struct rwsem__tool rwsem__tsan = {
    .is_here = is_here,
    .is_made = is_made,
    .is_gone = is_gone,
    .asks = asks,
    .took = took,
    .failed = failed,
    .gives = gives,
    .gave = gave,
};

#else

static bool is_here(void)
{
    return false;
}

const struct rwsem__tool rwsem__tsan = {.is_here = is_here};

#endif
