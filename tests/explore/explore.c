/*
 * The controlled scheduler: coroutines, and the depth-first walk over choices. os.c is the
 * operating system as the library sees it.
 */
#include "explore.h"
#include "lib/tunables.h"
#include "run.h"
#include "seam.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct explore_run run;

char explore_stacks[EXPLORE_THREADS][STACK] __attribute__((aligned(64)));

void explore_fail(const char *what)
{
    run.failure = what;
    run.is_active = false;
    _longjmp(run.main_env, 1);
}

void explore_note(const char *format, ...)
{
    va_list args;

    if (!run.is_told)
        return;
    printf("  [%u] ", run.current);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void body(void)
{
    run.program->thread(run.program->arg, run.current);
    explore_note("has ended");
    self()->status = DONE;
    run.is_active = true;
    explore_block();
    abort();
}

static void resume(unsigned next)
{
    struct coroutine *to = &run.threads[next];

    run.current = next;
    if (to->is_started)
        _longjmp(to->env, 1);
    to->is_started = true;
    getcontext(&to->context);
    to->context.uc_stack.ss_sp = explore_stacks[next];
    to->context.uc_stack.ss_size = STACK;
    to->context.uc_link = NULL;
    makecontext(&to->context, body, 0);
    setcontext(&to->context);
}

static void offer(struct choice *choice, unsigned thread, enum kind kind, unsigned cost)
{
    if (run.cost + cost <= run.bound)
        choice->options[choice->count++] =
            (struct option){(uint8_t)thread, (uint8_t)kind, (uint8_t)cost};
}

static bool can_run(const struct coroutine *co)
{
    return co->status == READY || (co->status == ASLEEP && co->until_ns <= run.clock_ns);
}

/* All that may happen next; the first one is the default. */
static void list_options(struct choice *choice)
{
    bool may_go_on = self()->status == READY;
    unsigned i;

    choice->count = 0;
    if (may_go_on)
        offer(choice, run.current, RUN, 0);
    for (i = 0; i < run.program->threads; i++) {
        if (!(may_go_on && i == run.current) && can_run(&run.threads[i]))
            offer(choice, i, RUN, may_go_on);
    }
    for (i = 0; i < run.program->threads; i++) {
        struct coroutine *co = &run.threads[i];

        if (co->status == PAUSED && i != run.current)
            offer(choice, i, TIME_OUT, 1);
        if (co->status != ASLEEP)
            continue;
        if (co->until_ns > run.clock_ns && co->until_ns < INT64_MAX)
            offer(choice, i, TIME_OUT, 1);
        if (co->is_interruptible && !co->was_signalled)
            offer(choice, i, SIGNAL, 1);
    }
}

/* Nobody can run: those that spin look again; else it is the end, or a failure. */
static void nobody_runs(void)
{
    bool has_paused = false, all_done = true;
    unsigned i;

    for (i = 0; i < run.program->threads; i++) {
        has_paused |= run.threads[i].status == PAUSED;
        all_done &= run.threads[i].status == DONE;
    }
    if (all_done) {
        run.is_active = false;
        _longjmp(run.main_env, 1);
    }
    if (!has_paused)
        explore_fail("lost wake-up: every thread that is left sleeps, at a lock that nobody holds");
    for (i = 0; i < run.program->threads; i++) {
        if (run.threads[i].status == PAUSED)
            run.threads[i].status = READY;
    }
}

static struct option next_option(void)
{
    struct choice *choice = &run.path[run.depth], fresh;
    struct option option;

    fresh.chosen = 0;
    list_options(&fresh);
    if (!fresh.count || fresh.options[0].kind != RUN) {
        bool is_any = false;
        unsigned i;

        for (i = 0; i < run.program->threads; i++)
            is_any |= can_run(&run.threads[i]);
        if (!is_any) {
            nobody_runs();
            list_options(&fresh);
        }
    }
    if (fresh.count == 1)
        return fresh.options[0];
    if (run.depth == MAX_DEPTH - 1)
        explore_fail("the run has more choices than the explorer can hold");
    if (run.depth < run.prefix)
        fresh.chosen = choice->chosen;
    fresh.cost_before = run.cost;
    *choice = fresh;
    run.depth++;
    if (fresh.chosen >= fresh.count)
        explore_fail("this schedule is not of this program");
    option = fresh.options[fresh.chosen];
    return option;
}

/* Lets the schedule go on; returns when it is the caller's turn again. */
void explore_block(void)
{
    struct option option = next_option();
    struct coroutine *to = &run.threads[option.thread];

    run.cost += option.cost;
    if (to->status == PAUSED) {
        to->status = READY;
        to->is_late = true;
        run.clock_ns += LATE_NS;
    } else if (option.kind == TIME_OUT) {
        run.clock_ns = to->until_ns;
    }
    if (to->status == ASLEEP) {
        to->wake_result = option.kind == SIGNAL ? -EINTR : -ETIMEDOUT;
        to->was_signalled |= option.kind == SIGNAL;
        to->status = READY;
        if (run.is_told)
            printf("  [%u] %s\n", option.thread,
                   option.kind == SIGNAL ? "is interrupted" : "has slept to its end");
    }
    if (option.thread == run.current)
        return;
    if (run.is_told)
        printf("      -> thread %u\n", option.thread);
    if (!_setjmp(self()->env))
        resume(option.thread);
}

static bool is_inside(const volatile void *address, const void *start, size_t size)
{
    return (uintptr_t)address - (uintptr_t)start < size;
}

/* The library's own statics: no point, but they must be the same at the start of each run. */
static void note_stray(const volatile void *address, size_t size)
{
    unsigned i;

    for (i = 0; i < run.strays; i++) {
        if (run.stray[i].address == address)
            return;
    }
    if (run.strays == MAX_STRAY)
        explore_fail("more statics than the explorer can hold");
    run.stray[run.strays].address = (void *)(uintptr_t)address;
    run.stray[run.strays++].size = size;
}

void explore_point(const volatile void *address, size_t size, const char *what)
{
    bool is_lock = is_inside(address, run.lock, run.lock_size);

    if (!run.is_active)
        return;
    if (!is_lock && !is_inside(address, explore_stacks, sizeof(explore_stacks))) {
        note_stray(address, size);
        return;
    }
    if (++run.steps > MAX_STEPS)
        explore_fail("livelock: the run does not end");
    explore_block();
    if (is_lock && run.is_freed)
        explore_fail("use after free: the lock was touched after its last user freed it");
    if (run.is_told) {
        uint64_t value = 0;

        memcpy(&value, (const void *)(uintptr_t)address, size);
        printf("  [%u] %-5s %s+%zu which is %#llx\n", run.current, what, is_lock ? "lock" : "node",
               is_lock ? (size_t)((char *)(uintptr_t)address - run.lock) : 0,
               (unsigned long long)value);
    }
}

void explore_wrote(const volatile void *address)
{
    const char *wrong;
    unsigned i;

    if (!run.is_active)
        return;
    for (i = 0; i < run.program->threads; i++) {
        if (run.threads[i].status == PAUSED)
            run.threads[i].status = READY;
    }
    if (is_inside(address, run.lock, run.lock_size) && run.program->always) {
        wrong = run.program->always(run.program->arg);
        if (wrong)
            explore_fail(wrong);
    }
}

uint64_t *explore_self(void)
{
    return &self()->self;
}

void explore_lock_memory(void *start, size_t size)
{
    run.lock = start;
    run.lock_size = size;
    run.is_freed = false;
}

void explore_free_lock_memory(void)
{
    explore_note("frees the lock");
    run.is_freed = true;
}

void explore_pass_time(uint64_t ns)
{
    run.clock_ns += ns;
}

void explore_begin_wait(bool is_writer, bool is_interruptible)
{
    self()->is_writer = is_writer;
    self()->is_waiting = true;
    self()->is_interruptible = is_interruptible;
    self()->asked_ns = run.clock_ns;
    self()->late_sleeps = self()->late_passes = 0;
    self()->has_slept = false;
}

void explore_end_wait(void)
{
    unsigned i;

    /* the bound is the first sleeper's: when that one is served, another one's begins to count */
    for (i = 0; self()->has_slept && i < run.program->threads; i++)
        run.threads[i].late_passes = 0;
    self()->is_waiting = false;
}

static bool is_overdue(const struct coroutine *co)
{
    return co->is_waiting && run.clock_ns >= co->asked_ns + rwsem__tunable.handoff_ns;
}

bool explore_has_overdue(void)
{
    unsigned i;

    for (i = 0; i < run.program->threads; i++) {
        if (is_overdue(&run.threads[i]))
            return true;
    }
    return false;
}

void explore_passes_others(bool is_writer)
{
    unsigned i;

    for (i = 0; i < run.program->threads; i++) {
        struct coroutine *co = &run.threads[i];

        /* before it first sleeps nobody can know of it */
        if (i == run.current || !is_overdue(co) || !co->has_slept || !(is_writer || co->is_writer))
            continue;
        if (++co->late_passes > LATE_PASSES)
            explore_fail("starvation: past the bound a waiter was passed time and again");
    }
}

static void run_once(void)
{
    unsigned i;

    memset(run.threads, 0, sizeof(run.threads));
    for (i = 0; i < run.strays; i++)
        memset(run.stray[i].address, 0, run.stray[i].size);
    run.depth = run.cost = 0;
    run.clock_ns = 1000000000;
    run.steps = run.sleeps = 0;
    run.failure = NULL;
    run.current = 0;
    run.program->reset(run.program->arg);
    if (!_setjmp(run.main_env)) {
        run.is_active = true;
        resume(0);
    }
    run.is_active = false;
    if (!run.failure)
        run.failure = run.program->at_end(run.program->arg);
}

/* Makes the path one that was not yet run; false: there is none within the bound. */
static bool advance(void)
{
    while (run.depth) {
        struct choice *choice = &run.path[run.depth - 1];

        if (++choice->chosen < choice->count) {
            run.prefix = run.depth;
            return true;
        }
        run.depth--;
    }
    return false;
}

static void write_schedule(char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%u", run.bound);
    unsigned i;

    for (i = 0; i < run.depth && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, ",%u", run.path[i].chosen);
}

struct explore_result explore_all(const struct explore_program *program, unsigned bound,
                                  uint64_t most)
{
    struct explore_result result = {.failure = NULL};
    uint64_t total = 0;

    run.program = program;
    for (run.bound = 0; run.bound <= bound && total < most; run.bound++) {
        result.schedules = 0;
        result.bound = run.bound;
        run.prefix = 0;
        do {
            run_once();
            result.schedules++;
            result.steps += run.steps;
            total++;
            if (run.failure) {
                result.failure = run.failure;
                write_schedule(result.schedule, sizeof(result.schedule));
                return result;
            }
        } while (advance() && total < most);
    }
    return result;
}

const char *explore_replay(const struct explore_program *program, const char *schedule)
{
    char *end;

    run.program = program;
    run.bound = (unsigned)strtoul(schedule, &end, 10);
    for (run.prefix = 0; *end == ',' && run.prefix < MAX_DEPTH - 1; run.prefix++)
        run.path[run.prefix].chosen = (uint8_t)strtoul(end + 1, &end, 10);
    run.is_told = true;
    run_once();
    run.is_told = false;
    return run.failure;
}
