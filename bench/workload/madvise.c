/*
 * Writers against readers of the address space: each thread changes the advice of its part of a
 * mapped file back and forth (mmap_lock for writing) and asks by mincore what of it is resident
 * (for reading). All do both, so that a gate cannot gain by letting more of the cheaper kind
 * through. Pages without rights lie between the parts, so that advice neither splits nor merges
 * mappings, whose number thus stays the same.
 */
#include "bench/workload.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct place {
    char *part;
    bool is_random;           /* the last advice */
    unsigned char resident[]; /* mincore's answer, a byte a page */
};

/* A part and the page behind it. */
static size_t spacing(const struct bench_job *job)
{
    return job->size + job->page_size;
}

static int map_parts(struct bench_job *job, char *region, int fd)
{
    for (unsigned i = 0; i < job->threads; i++) {
        char *part = region + spacing(job) * i;
        if (mmap(part, job->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                 (off_t)(job->size * i)) == MAP_FAILED)
            return job_failed(job, "mmap");
        worker_touch(job, part, job->size);
    }
    return 0;
}

/* The file is in memory and has no name: it is gone with its mappings. */
static int setup(struct bench_job *job)
{
    size_t bytes = spacing(job) * job->threads;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    int error, fd = memfd_create("rwsem-bench", MFD_CLOEXEC);

    if (fd < 0)
        return job_failed(job, "memfd_create");
    error = ftruncate(fd, (off_t)(job->size * job->threads)) ? job_failed(job, "ftruncate") : 0;
    if (error)
        goto out;
    char *region = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
    if (region == MAP_FAILED) {
        error = job_failed(job, "mmap");
        goto out;
    }
    error = map_parts(job, region, fd);
    if (error)
        munmap(region, bytes);
    else
        job->shared = region;
out:
    close(fd);
    return error;
}

static void teardown(struct bench_job *job)
{
    munmap(job->shared, spacing(job) * job->threads);
}

static int enter(struct bench_worker *w)
{
    struct bench_job *job = w->job;
    struct place *place = calloc(1, sizeof *place + job->size / job->page_size);

    if (!place)
        return worker_failed(w, "calloc");
    place->part = (char *)job->shared + spacing(job) * w->index;
    w->own = place;
    return 0;
}

static void leave(struct bench_worker *w)
{
    free(w->own);
}

static int advise(const struct bench_job *job, struct place *place)
{
    return madvise(place->part, job->size, place->is_random ? MADV_NORMAL : MADV_RANDOM);
}

static int ask(const struct bench_job *job, struct place *place)
{
    return mincore(place->part, job->size, place->resident);
}

/*
 * One call behind the gate. EAGAIN says that the kernel lacked memory for its own needs, which
 * passes in most cases: the call is made again a few times, and that counts as its latency.
 */
static int call_gated(struct bench_worker *w, struct place *place,
                      int (*call)(const struct bench_job *, struct place *), const char *name)
{
    enum { TRIES = 100 };
    int error = -EAGAIN;

    for (int i = 0; i < TRIES && error == -EAGAIN; i++) {
        if (i)
            sched_yield();
        gate_enter(w->job);
        error = call(w->job, place) ? worker_failed(w, name) : 0;
        gate_leave(w->job);
    }
    return error;
}

static int step(struct bench_worker *w)
{
    struct place *place = w->own;
    int error = call_gated(w, place, advise, "madvise");

    if (error)
        return error;
    place->is_random = !place->is_random;
    worker_lap(w, 0);
    error = call_gated(w, place, ask, "mincore");
    if (error)
        return error;
    worker_lap(w, 1);
    return 0;
}

const struct bench_workload workload_madvise = {
    .name = "madvise",
    .like = "a search engine that advises mappings while others ask mincore (OpenSearch 20933)",
    .does = "changes the advice of its part of a region, then asks what of it is resident",
    .phases = {"madvise", "mincore"},
    .uses = USES_SIZE | USES_TOUCH,
    .held_sizes = 1,
    .default_size = 256 << 10,
    .setup = setup,
    .teardown = teardown,
    .enter = enter,
    .step = step,
    .leave = leave,
};
