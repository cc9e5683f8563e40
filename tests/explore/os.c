/*
 * The operating system as the library sees it under the controlled scheduler: futexes, and a clock
 * that moves only when it is looked at or slept by.
 */
#include "lib/os.h"
#include "lib/tunables.h"
#include "run.h"
#include "seam.h"
#include <errno.h>

int os_futex_wait(uint32_t *word, uint32_t expected, uint64_t until_ns, uint32_t bits,
                  enum os_scope scope)
{
    struct coroutine *co = self();

    explore_point(word, sizeof(*word), "sleep");
    if (*word != expected)
        return -EAGAIN;
    if (until_ns <= run.clock_ns)
        return -ETIMEDOUT;
    if (co->is_waiting && run.clock_ns >= co->asked_ns + rwsem__tunable.handoff_ns &&
        ++co->late_sleeps >= LATE_SLEEPS)
        explore_fail("starvation: past the bound a waiter was passed again");
    co->futex = word;
    co->bits = bits;
    co->until_ns = until_ns;
    co->slept_at = ++run.sleeps;
    co->has_slept = true;
    co->status = ASLEEP;
    explore_block();
    return co->wake_result;
}

int os_futex_wake(uint32_t *word, int count, uint32_t bits, enum os_scope scope)
{
    int woken = 0;

    explore_point(explore_stacks, 0, "wake"); /* the memory may be gone: the kernel bears that */
    while (woken < count) {
        struct coroutine *oldest = NULL;
        unsigned i;

        for (i = 0; i < run.program->threads; i++) {
            struct coroutine *co = &run.threads[i];

            if (co->status == ASLEEP && co->futex == word && co->bits & bits &&
                (!oldest || co->slept_at < oldest->slept_at))
                oldest = co;
        }
        if (!oldest)
            break;
        oldest->status = READY;
        oldest->wake_result = 0;
        woken++;
    }
    return woken;
}

uint64_t os_now_ns(void)
{
    self()->is_late = false;
    return run.clock_ns += CLOCK_STEP_NS;
}

uint32_t os_tid(void)
{
    return run.current + 101;
}

void os_pause(void)
{
    if (self()->is_late)
        return;
    self()->status = PAUSED;
    explore_block();
}

void os_sleep_ns(uint64_t ns)
{
    run.clock_ns += ns;
    self()->is_late = false;
    os_pause();
}

unsigned os_usable_cpus(uint64_t now_ns)
{
    return run.program->cpus;
}

bool os_is_thread_dead(uint32_t tid)
{
    return run.threads[tid - 101].status == DONE;
}

uint32_t os_thread_birth(uint32_t tid)
{
    return tid;
}

uint32_t os_namespaces(void)
{
    return 1;
}
