/*
 * Arenas that grow: a touched mapping is enlarged by mremap, which moves it where its neighbours
 * leave no room, and the new pages are touched. Mapping the small one is preparation and is left
 * out of the latencies (not out of the rate).
 */
#include "bench/workload.h"
#include <sys/mman.h>

enum { GROWTH = 4 };

/* The small mapping, touched, so that there is something to move. */
static int map_small(struct bench_worker *w, char **out)
{
    struct bench_job *job = w->job;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;

    gate_enter(job);
    char *area = mmap(NULL, job->size, PROT_READ | PROT_WRITE, flags, -1, 0);
    gate_leave(job);
    if (area == MAP_FAILED)
        return worker_failed(w, "mmap");
    worker_touch(job, area, job->size);
    worker_skip(w);
    *out = area;
    return 0;
}

static int step(struct bench_worker *w)
{
    struct bench_job *job = w->job;
    char *area = NULL;
    int error = map_small(w, &area);

    if (error)
        return error;
    gate_enter(job);
    char *grown = mremap(area, job->size, GROWTH * job->size, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED)
        error = worker_failed(w, "mremap");
    gate_leave(job);
    if (error) {
        worker_drop(w, area, job->size);
        return error;
    }
    worker_lap(w, 0);
    worker_touch(job, grown + job->size, (GROWTH - 1) * job->size);
    worker_lap(w, 1);
    error = worker_unmap(w, grown, GROWTH * job->size);
    if (error)
        return error;
    worker_lap(w, 2);
    return 0;
}

const struct bench_workload workload_mremap = {
    .name = "mremap",
    .like = "a database whose arenas grow from 4 to 16 KiB by realloc (ClickHouse 80245)",
    .does = "grows a touched mapping fourfold by mremap, touches the new part and unmaps it",
    .phases = {"mremap", "touch", "munmap"},
    .uses = USES_SIZE | USES_TOUCH,
    .held_sizes = 4,
    .step = step,
    .leave = worker_give_back,
};
