/*
 * Threads that map, touch and unmap while one thread more, which no figure counts, reads
 * /proc/self/smaps over and over: it holds mmap_lock for reading while it walks page tables. So
 * that there is something to walk, as in a process worth watching, some memory is filled before.
 */
#include "bench/workload.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILLED_BYTES = 16 << 20 };

struct watched {
    int fd;
    char *filled;
    _Atomic int read_error; /* negative errno; the reader sets it, workers look */
};

static int fill(struct bench_job *job, struct watched *watched)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *filled = mmap(NULL, FILLED_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

    if (filled == MAP_FAILED)
        return job_failed(job, "mmap");
    /* A huge page is one entry to walk. A kernel that has none refuses, and that is fine. */
    madvise(filled, FILLED_BYTES, MADV_NOHUGEPAGE);
    for (size_t offset = 0; offset < FILLED_BYTES; offset += job->page_size)
        filled[offset] = 1;
    watched->filled = filled;
    return 0;
}

static int setup(struct bench_job *job)
{
    struct watched *watched = calloc(1, sizeof *watched);
    int error;

    if (!watched)
        return job_failed(job, "calloc");
    watched->fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    if (watched->fd < 0) {
        error = job_failed(job, "open /proc/self/smaps");
        goto out;
    }
    error = fill(job, watched);
    if (!error) {
        job->shared = watched;
        return 0;
    }
    close(watched->fd);
out:
    free(watched);
    return error;
}

static void teardown(struct bench_job *job)
{
    struct watched *watched = job->shared;

    munmap(watched->filled, FILLED_BYTES);
    close(watched->fd);
    free(watched);
}

static void read_smaps(struct bench_job *job)
{
    struct watched *watched = job->shared;
    char buffer[16 << 10];

    while (!atomic_load_explicit(&job->is_over, memory_order_relaxed)) {
        ssize_t got = read(watched->fd, buffer, sizeof buffer);
        if (got == 0)
            got = lseek(watched->fd, 0, SEEK_SET);
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            /* Relaxed: the value is all that there is to see. */
            atomic_store_explicit(&watched->read_error, -errno, memory_order_relaxed);
            return;
        }
    }
}

/* As `map`; but without its reader it would not measure what it says. */
static int step(struct bench_worker *w)
{
    struct watched *watched = w->job->shared;
    int error = atomic_load_explicit(&watched->read_error, memory_order_relaxed);

    if (error) {
        w->failed_call = "read /proc/self/smaps";
        return error;
    }
    return workload_map_step(w);
}

const struct bench_workload workload_smaps = {
    .name = "smaps",
    .like = "a monitoring agent that reads smaps of a busy process (process-exporter 246)",
    .does = "maps, touches and unmaps memory, while a thread more reads /proc/self/smaps",
    .phases = {"mmap", "touch", "munmap"},
    .uses = USES_SIZE | USES_TOUCH | USES_POPULATE,
    .held_sizes = 1,
    .setup = setup,
    .teardown = teardown,
    .step = step,
    .leave = worker_give_back,
    .beside = read_smaps,
};
