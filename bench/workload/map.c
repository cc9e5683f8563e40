/* The benchmark of the mail of 2011: map, touch, unmap. */
#include "bench/workload.h"
#include <sys/mman.h>

int workload_map_step(struct bench_worker *w)
{
    struct bench_job *job = w->job;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (job->is_populated ? MAP_POPULATE : 0);

    gate_enter(job);
    char *area = mmap(NULL, job->size, PROT_READ | PROT_WRITE, flags, -1, 0);
    gate_leave(job);
    if (area == MAP_FAILED)
        return worker_failed(w, "mmap");
    worker_lap(w, 0);
    worker_touch(job, area, job->size);
    worker_lap(w, 1);
    int error = worker_unmap(w, area, job->size);
    if (error)
        return error;
    worker_lap(w, 2);
    return 0;
}

const struct bench_workload workload_map = {
    .name = "map",
    .like = "the virus scanner of 2011, whose threads map memory for each file they look at",
    .does = "maps anonymous memory, touches it and unmaps it",
    .phases = {"mmap", "touch", "munmap"},
    .uses = USES_SIZE | USES_TOUCH | USES_POPULATE,
    .held_sizes = 1,
    .step = workload_map_step,
    .leave = worker_give_back,
};
