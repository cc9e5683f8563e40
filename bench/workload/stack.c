/* Stacks that live for one call: a guard page at the bottom, work at the top. */
#include "bench/workload.h"
#include <sys/mman.h>

/* A guard page and job->size bytes above it. */
static size_t guarded_size(const struct bench_job *job)
{
    return job->size + job->page_size;
}

static int make_stack(struct bench_worker *w, char **out)
{
    struct bench_job *job = w->job;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK;

    gate_enter(job);
    char *stack = mmap(NULL, guarded_size(job), PROT_READ | PROT_WRITE, flags, -1, 0);
    gate_leave(job);
    if (stack == MAP_FAILED)
        return worker_failed(w, "mmap");
    gate_enter(job);
    int error = mprotect(stack, job->page_size, PROT_NONE) ? worker_failed(w, "mprotect") : 0;
    gate_leave(job);
    if (error)
        worker_drop(w, stack, guarded_size(job));
    else
        *out = stack;
    return error;
}

static int step(struct bench_worker *w)
{
    struct bench_job *job = w->job;
    char *stack = NULL;
    int error = make_stack(w, &stack);

    if (error)
        return error;
    worker_lap(w, 0);
    if (job->touch == TOUCH_ALL)
        worker_touch(job, stack + job->page_size, job->size);
    else if (job->touch == TOUCH_FIRST) /* the first page that a stack uses is its last */
        *(volatile char *)(stack + guarded_size(job) - 1) = 1;
    worker_lap(w, 1);
    error = worker_unmap(w, stack, guarded_size(job));
    if (error)
        return error;
    worker_lap(w, 2);
    return 0;
}

const struct bench_workload workload_stack = {
    .name = "stack",
    .like = "short-lived threads or fibers, a stack for each call (wasmtime 4637)",
    .does = "maps a stack with a guard page, touches its top and unmaps it",
    .phases = {"map+protect", "touch", "munmap"},
    .uses = USES_SIZE | USES_TOUCH,
    .held_sizes = 1,
    .default_size = 256 << 10,
    .step = step,
    .leave = worker_give_back,
};
