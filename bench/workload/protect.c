/* Memory that is reserved first and given its rights later, at each request. */
#include "bench/workload.h"
#include <sys/mman.h>

/* Two calls, each behind the gate, as a gate round every call of the family would have it. */
static int reserve_and_open(struct bench_worker *w, char **out)
{
    struct bench_job *job = w->job;

    gate_enter(job);
    char *area = mmap(NULL, job->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    gate_leave(job);
    if (area == MAP_FAILED)
        return worker_failed(w, "mmap");
    gate_enter(job);
    int error =
        mprotect(area, job->size, PROT_READ | PROT_WRITE) ? worker_failed(w, "mprotect") : 0;
    gate_leave(job);
    if (error)
        worker_drop(w, area, job->size);
    else
        *out = area;
    return error;
}

static int step(struct bench_worker *w)
{
    struct bench_job *job = w->job;
    char *area = NULL;
    int error = reserve_and_open(w, &area);

    if (error)
        return error;
    worker_lap(w, 0);
    worker_touch(job, area, job->size);
    worker_lap(w, 1);
    error = worker_unmap(w, area, job->size);
    if (error)
        return error;
    worker_lap(w, 2);
    return 0;
}

const struct bench_workload workload_protect = {
    .name = "protect",
    .like =
        "a WebAssembly runtime that maps and opens an instance's memory a request (wasmer 6651)",
    .does = "reserves memory without rights, opens it by mprotect, touches it and unmaps it",
    .phases = {"map+protect", "touch", "munmap"},
    .uses = USES_SIZE | USES_TOUCH,
    .held_sizes = 1,
    .default_size = 64 << 10,
    .step = step,
    .leave = worker_give_back,
};
