/*
 * Bursts of unmapping: each thread maps a number of areas and then unmaps them back to back, as
 * many threads do at once when an index or a cache is closed. One iteration is one munmap; the
 * mapping of the next burst is preparation and is left out of the latencies (not out of the rate).
 */
#include "bench/workload.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { BURST = 16 };

struct burst {
    char *area[BURST];
    unsigned mapped; /* the first so many of them */
};

static int enter(struct bench_worker *w)
{
    w->own = calloc(1, sizeof(struct burst));
    return w->own ? 0 : worker_failed(w, "calloc");
}

static int map_burst(struct bench_worker *w, struct burst *burst)
{
    struct bench_job *job = w->job;

    while (burst->mapped < BURST) {
        /* Neighbours with other flags do not merge: each stays a mapping of its own. */
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | (burst->mapped % 2 ? MAP_NORESERVE : 0);
        gate_enter(job);
        char *area = mmap(NULL, job->size, PROT_READ | PROT_WRITE, flags, -1, 0);
        gate_leave(job);
        if (area == MAP_FAILED)
            return worker_failed(w, "mmap");
        burst->area[burst->mapped++] = area;
        worker_touch(job, area, job->size);
    }
    worker_skip(w);
    return 0;
}

static int step(struct bench_worker *w)
{
    struct burst *burst = w->own;
    int error = burst->mapped ? 0 : map_burst(w, burst);

    if (error)
        return error;
    error = worker_unmap(w, burst->area[--burst->mapped], w->job->size);
    if (error)
        return error;
    worker_lap(w, 0);
    return 0;
}

/* A round may end in the middle of a burst. */
static void leave(struct bench_worker *w)
{
    struct burst *burst = w->own;

    worker_give_back(w);
    while (burst->mapped) {
        worker_drop(w, burst->area[--burst->mapped], w->job->size);
        worker_give_back(w);
    }
    free(burst);
}

const struct bench_workload workload_unmap = {
    .name = "unmap",
    .like = "a search index that is closed by many threads at once (Apache Lucene 13325)",
    .does = "unmaps one area of 16 that were mapped and touched before, back to back",
    .phases = {"munmap"},
    .uses = USES_SIZE | USES_TOUCH,
    .held_sizes = 16,
    .enter = enter,
    .step = step,
    .leave = leave,
};
