/*
 * What the threads of `rwsem bench mmap` do over and over: one table row and one small file each,
 * in bench/workload/. A workload calls the kernel; the gate it takes round those calls, the clock
 * and the histograms are given to it.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "peers/peer.h"
#include "result/clock.h"
#include "result/hist.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { BENCH_PHASES = 3 };

enum bench_touch { TOUCH_NONE, TOUCH_FIRST, TOUCH_ALL };

/* What all threads of one round share; read-only while they run, but for `is_over` and the lock. */
struct bench_job {
    const struct bench_workload *workload;
    const struct peer *gate;
    void *lock;  /* the gate's own memory; NULL where it has none */
    size_t size; /* bytes of a mapping, a multiple of page_size */
    size_t page_size;
    enum bench_touch touch;
    bool is_populated; /* MAP_POPULATE */
    unsigned threads;
    void *shared;                      /* setup()'s, for all threads */
    const char *failed_call;           /* what returned the error that setup() returns */
    _Alignas(64) _Atomic bool is_over; /* set once; workers look before each iteration */
};

/* One thread. Only that thread writes it until it has been joined. */
struct bench_worker {
    _Alignas(64) struct bench_job *job;
    unsigned index;          /* 0 to threads-1 */
    void *own;               /* enter()'s, for this thread */
    uint64_t step_ticks;     /* when this iteration began */
    uint64_t lap_ticks;      /* when the last lap ended */
    const char *failed_call; /* what returned the error that enter() or step() returns */
    char *kept;              /* a mapping that munmap refused to take, for worker_give_back() */
    size_t kept_size;
    struct hist phase[BENCH_PHASES];
    struct hist whole;
};

enum bench_uses { USES_SIZE = 1, USES_TOUCH = 2, USES_POPULATE = 4 };

struct bench_workload {
    const char *name;                 /* what --workload takes */
    const char *like;                 /* where one meets it, one line */
    const char *does;                 /* what one iteration is, one line */
    const char *phases[BENCH_PHASES]; /* what the laps time, in order; NULL where fewer */
    unsigned uses;                    /* enum bench_uses: the options that change it */
    size_t default_size;              /* bytes where --size was not given; 0: one page */
    unsigned held_sizes;              /* mappings of that size that a thread holds at once */
    size_t held_bytes;                /* bytes that it holds besides, whatever the size */
    /* All return 0 or a negative errno with failed_call set; each but step may be NULL. */
    int (*setup)(struct bench_job *job);     /* once a round, before the threads */
    void (*teardown)(struct bench_job *job); /* after them */
    int (*enter)(struct bench_worker *w);    /* in each thread, before the start signal */
    int (*step)(struct bench_worker *w);     /* one iteration; its last act is a lap or a skip */
    void (*leave)(struct bench_worker *w);
    void (*beside)(struct bench_job *job); /* one more thread, not counted, until job->is_over */
};

/* Every workload, the default first; ends with NULL. */
extern const struct bench_workload *const workload_table[];

const struct bench_workload *workload_find(const char *name);

static inline void gate_enter(struct bench_job *job)
{
    if (job->lock)
        job->gate->down_write(job->lock);
}

static inline void gate_leave(struct bench_job *job)
{
    if (job->lock)
        job->gate->up_write(job->lock);
}

/* Ends phase `phase` of the iteration now; the next one starts here. */
static inline void worker_lap(struct bench_worker *w, unsigned phase)
{
    uint64_t now = clock_ticks();
    hist_add(&w->phase[phase], clock_span_ns(w->lap_ticks, now));
    w->lap_ticks = now;
}

/* Leaves what was done since the last lap out of the figures (housekeeping between iterations). */
static inline void worker_skip(struct bench_worker *w)
{
    uint64_t now = clock_ticks();
    w->step_ticks += now - w->lap_ticks;
    w->lap_ticks = now;
}

/* One iteration of the workload `map`, which others build upon. */
int workload_map_step(struct bench_worker *w);

/* Note which call failed and hand its errno back, for `return worker_failed(w, "mmap")`. */
int worker_failed(struct bench_worker *w, const char *call);
int job_failed(struct bench_job *job, const char *call);

/*
 * Unmaps behind the gate. 0, or a negative errno with failed_call set: munmap needs memory and a
 * spare mapping where it has to split one. What it refuses is kept for worker_give_back(), so a
 * step that uses this has that as its leave().
 */
int worker_unmap(struct bench_worker *w, char *area, size_t size);

/* Unmaps what a failed step had mapped; touches neither gate nor failed_call. */
void worker_drop(struct bench_worker *w, char *area, size_t size);

/* A leave(): unmaps what could not be unmapped in time, as soon as other threads let go. */
void worker_give_back(struct bench_worker *w);

/* Writes to the pages of a mapping as the job asks: none, the first, or all. */
void worker_touch(const struct bench_job *job, char *mapping, size_t size);

#endif
