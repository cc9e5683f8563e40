/*
 * What programs do that never call mmap: blocks of middling size from malloc, whose arenas map,
 * protect, trim and discard behind the scenes. The gate goes round malloc and free, since it can't
 * reach inside. Blocks come and go in bursts: a single one would be handed out of the arena's top
 * again and again, without a system call.
 */
#include "bench/workload.h"
#include <stdlib.h>

enum { LEAST_BYTES = 64 << 10, MOST_BYTES = 1 << 20, BURST = 8 };

struct blocks {
    uint64_t random;
    size_t size[BURST];
    char *block[BURST];
};

static int enter(struct bench_worker *w)
{
    struct blocks *blocks = calloc(1, sizeof *blocks);

    if (!blocks)
        return worker_failed(w, "calloc");
    blocks->random = 0x9e3779b97f4a7c15u * (w->index + 1); /* the same sizes in every round */
    w->own = blocks;
    return 0;
}

static void leave(struct bench_worker *w)
{
    free(w->own);
}

/* Marsaglia's xorshift64. */
static size_t next_size(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return LEAST_BYTES + (size_t)(*random >> 33) % (MOST_BYTES - LEAST_BYTES + 1);
}

static void free_all(struct bench_job *job, struct blocks *blocks)
{
    for (unsigned i = 0; i < BURST; i++) {
        gate_enter(job);
        free(blocks->block[i]);
        gate_leave(job);
        blocks->block[i] = NULL;
    }
}

static int step(struct bench_worker *w)
{
    struct bench_job *job = w->job;
    struct blocks *blocks = w->own;

    for (unsigned i = 0; i < BURST; i++) {
        blocks->size[i] = next_size(&blocks->random);
        gate_enter(job);
        blocks->block[i] = malloc(blocks->size[i]);
        int error = blocks->block[i] ? 0 : worker_failed(w, "malloc");
        gate_leave(job);
        if (error) {
            free_all(job, blocks);
            return error;
        }
    }
    worker_lap(w, 0);
    for (unsigned i = 0; i < BURST; i++)
        worker_touch(job, blocks->block[i], blocks->size[i]);
    worker_lap(w, 1);
    free_all(job, blocks);
    worker_lap(w, 2);
    return 0;
}

const struct bench_workload workload_malloc = {
    .name = "malloc",
    .like = "any threaded program that builds something up from blocks of 64 KiB to 1 MiB",
    .does = "allocates 8 blocks of random size through libc's arenas, touches and frees them",
    .phases = {"malloc x8", "touch x8", "free x8"},
    .uses = USES_TOUCH,
    .held_bytes = 8 << 20,
    .enter = enter,
    .step = step,
    .leave = leave,
};
