/* The table of workloads, and what they share. Whoever adds one adds two lines here. */
#include "bench/workload.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

extern const struct bench_workload workload_map, workload_protect, workload_stack, workload_fault,
    workload_madvise, workload_unmap, workload_mremap, workload_malloc, workload_smaps;

const struct bench_workload *const workload_table[] = {
    &workload_map,   &workload_protect, &workload_stack,  &workload_fault, &workload_madvise,
    &workload_unmap, &workload_mremap,  &workload_malloc, &workload_smaps, NULL,
};

const struct bench_workload *workload_find(const char *name)
{
    for (const struct bench_workload *const *w = workload_table; *w; w++)
        if (!strcmp((*w)->name, name))
            return *w;
    return NULL;
}

int worker_failed(struct bench_worker *w, const char *call)
{
    w->failed_call = call;
    return -errno;
}

int job_failed(struct bench_job *job, const char *call)
{
    job->failed_call = call;
    return -errno;
}

/* An iteration holds one mapping at a time, and a failure ends the thread: one place is enough. */
static void keep(struct bench_worker *w, char *area, size_t size)
{
    w->kept = area;
    w->kept_size = size;
}

int worker_unmap(struct bench_worker *w, char *area, size_t size)
{
    gate_enter(w->job);
    int error = munmap(area, size) ? worker_failed(w, "munmap") : 0;
    gate_leave(w->job);
    if (error)
        keep(w, area, size);
    return error;
}

void worker_drop(struct bench_worker *w, char *area, size_t size)
{
    if (munmap(area, size))
        keep(w, area, size);
}

void worker_give_back(struct bench_worker *w)
{
    enum { TRIES = 10000 };

    if (!w->kept)
        return;
    /* Refused for want of a spare mapping. The other threads stop too and free theirs. */
    for (int i = 0; i < TRIES && munmap(w->kept, w->kept_size); i++)
        sched_yield();
    w->kept = NULL;
}

/*
 * TSan keeps what it knows of an address when the kernel gives the same address to another thread
 * (it does not follow mremap): it would take these writes to private memory for a race.
 */
__attribute__((no_sanitize("thread"))) void worker_touch(const struct bench_job *job, char *mapping,
                                                         size_t size)
{
    size_t most = job->touch == TOUCH_ALL ? size : job->touch == TOUCH_FIRST ? 1 : 0;

    for (size_t offset = 0; offset < most; offset += job->page_size)
        *(volatile char *)(mapping + offset) = 1;
}
