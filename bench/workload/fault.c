/*
 * Page faults alone: threads fault pages of one region side by side. There is no call to put a gate
 * round but the fault itself. Each thread has a run of pages next to its neighbours' runs, faults
 * them one by one, and gives the run back when it is through, which is left out of the latencies
 * (not out of the rate).
 */
#include "bench/workload.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { RUN_PAGES = 64 };

struct place {
    char *run;     /* this thread's pages */
    unsigned next; /* page to fault */
};

static size_t run_bytes(const struct bench_job *job)
{
    return RUN_PAGES * job->page_size;
}

static int setup(struct bench_job *job)
{
    size_t bytes = job->threads * run_bytes(job);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *region = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

    if (region == MAP_FAILED)
        return job_failed(job, "mmap");
    /* A huge page would be one fault for all. A kernel that has none refuses, and that is fine. */
    madvise(region, bytes, MADV_NOHUGEPAGE);
    job->shared = region;
    return 0;
}

static void teardown(struct bench_job *job)
{
    munmap(job->shared, job->threads * run_bytes(job));
}

static int enter(struct bench_worker *w)
{
    struct place *place = calloc(1, sizeof *place);

    if (!place)
        return worker_failed(w, "calloc");
    place->run = (char *)w->job->shared + w->index * run_bytes(w->job);
    w->own = place;
    return 0;
}

static void leave(struct bench_worker *w)
{
    free(w->own);
}

static int discard(struct bench_worker *w, struct place *place)
{
    struct bench_job *job = w->job;

    gate_enter(job);
    int error = madvise(place->run, run_bytes(job), MADV_DONTNEED)
                    ? worker_failed(w, "madvise(MADV_DONTNEED)")
                    : 0;
    gate_leave(job);
    place->next = 0;
    worker_skip(w);
    return error;
}

static int step(struct bench_worker *w)
{
    struct bench_job *job = w->job;
    struct place *place = w->own;

    gate_enter(job);
    *(volatile char *)(place->run + place->next * job->page_size) = 1;
    gate_leave(job);
    worker_lap(w, 0);
    return ++place->next < RUN_PAGES ? 0 : discard(w, place);
}

const struct bench_workload workload_fault = {
    .name = "fault",
    .like = "a runtime whose threads first touch neighbouring heap pages (golang/go 33092)",
    .does = "faults in one page of a region that all threads share",
    .phases = {"fault"},
    .held_bytes = 64 << 12,
    .setup = setup,
    .teardown = teardown,
    .enter = enter,
    .step = step,
    .leave = leave,
};
