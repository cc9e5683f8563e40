/*
 * One gate in one round: the measured loop, run by a crew. What an iteration does is the
 * workload's; which figures matter is mmap.c's.
 */
#include "bench/round.h"
#include "bench/crew.h"
#include "bench/explain.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert((int)MMAP_PHASES == (int)BENCH_PHASES, "a record has as many phases as a workload");

enum { OVERHEAD_ITERATIONS = 20000, OVERHEAD_TRIES = 5 };

struct crowd {
    struct bench_job job;
    struct bench_worker *workers;
    uint64_t most; /* iterations of each thread */
    char *note;
    size_t note_size;
};

/* The measured loop. Returns 0, or the error that ended it. */
static int loop(struct bench_worker *w, uint64_t most, uint64_t *iterations)
{
    struct bench_job *job = w->job;
    int (*step)(struct bench_worker *) = job->workload->step;
    uint64_t n = 0;
    int error = 0;

    w->lap_ticks = clock_ticks();
    /* Relaxed: nothing is read on the strength of it; a late look costs one iteration. */
    while (n < most && !atomic_load_explicit(&job->is_over, memory_order_relaxed)) {
        w->step_ticks = w->lap_ticks;
        error = step(w);
        if (error)
            break;
        hist_add(&w->whole, clock_span_ns(w->step_ticks, w->lap_ticks));
        n++;
    }
    *iterations = n;
    return error;
}

/* Zeroed memory that nobody has touched: each thread faults its own in (enter), on its own node and
 * before anything is measured. A thread that never came so far leaves zeroes. */
static struct bench_worker *make_workers(unsigned threads)
{
    void *workers = mmap(NULL, sizeof(struct bench_worker) * threads, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return workers == MAP_FAILED ? NULL : workers;
}

static void free_workers(struct bench_worker *workers, unsigned threads)
{
    if (workers)
        munmap(workers, sizeof(struct bench_worker) * threads);
}

static void fill_worker(struct bench_worker *w, struct bench_job *job, unsigned index)
{
    memset(w, 0, sizeof *w);
    w->job = job;
    w->index = index;
}

static int enter(void *context, unsigned index)
{
    struct crowd *crowd = context;
    fill_worker(&crowd->workers[index], &crowd->job, index);
    return crowd->job.workload->enter ? crowd->job.workload->enter(&crowd->workers[index]) : 0;
}

static int work(void *context, unsigned index, uint64_t *iterations)
{
    struct crowd *crowd = context;
    return loop(&crowd->workers[index], crowd->most, iterations);
}

static void leave(void *context, unsigned index)
{
    struct crowd *crowd = context;
    if (crowd->job.workload->leave)
        crowd->job.workload->leave(&crowd->workers[index]);
}

static void beside(void *context)
{
    struct crowd *crowd = context;
    crowd->job.workload->beside(&crowd->job);
}

static void explain(void *context, unsigned index, const char *call, int error)
{
    struct crowd *crowd = context;
    if (!call)
        call = crowd->workers[index].failed_call;
    explain_failure(call, error, &crowd->job, crowd->note, crowd->note_size);
}

static void describe(struct bench_job *job, const struct round_request *request)
{
    const struct bench_plan *plan = request->plan;
    job->workload = plan->workload;
    job->gate = request->gate;
    job->size = plan->size;
    job->page_size = (size_t)sysconf(_SC_PAGESIZE);
    job->touch = plan->touch;
    job->is_populated = plan->is_populated;
    job->threads = request->threads;
}

static int run_crowd(struct crowd *crowd, const struct round_request *request,
                     struct round_figures *round, struct hist *phase, struct hist *whole)
{
    bool is_timed = request->round_ns != 0;
    struct crew_job job = {
        .threads = request->threads,
        .pin_to = request->plan->is_pinned ? request->cpus : NULL,
        .most_ns = is_timed ? request->round_ns : request->plan->limit_ns,
        .is_over = &crowd->job.is_over,
        .context = crowd,
        .enter = enter,
        .work = work,
        .leave = leave,
        .explain = explain,
        .beside = crowd->job.workload->beside ? beside : NULL,
    };
    struct crew_result result;
    int error = crew_run(&job, &result, round);

    if (error)
        return error;
    if (result.start_error)
        explain_threads(result.started, request->threads, result.start_error, crowd->note,
                        crowd->note_size);
    if (round->outcome == OUTCOME_OK && result.has_run_out && !is_timed)
        round->outcome = OUTCOME_CUT_OFF;
    for (unsigned i = 0; i < request->threads; i++) {
        for (unsigned p = 0; p < BENCH_PHASES; p++)
            hist_merge(&phase[p], &crowd->workers[i].phase[p]);
        hist_merge(whole, &crowd->workers[i].whole);
    }
    return 0;
}

void round_run(const struct round_request *request, struct round_figures *round, struct hist *phase,
               struct hist *whole, char *note, size_t note_size)
{
    struct crowd crowd = {
        .most = request->round_ns ? UINT64_MAX : request->plan->iterations,
        .note = note,
        .note_size = note_size,
    };
    const struct bench_workload *workload = request->plan->workload;
    int error = -ENOMEM;

    note[0] = '\0';
    describe(&crowd.job, request);
    crowd.workers = make_workers(request->threads);
    if (!crowd.workers)
        goto out;
    crowd.job.lock = peer_make(request->gate, &error);
    if (error)
        goto out;
    int setup_error = workload->setup ? workload->setup(&crowd.job) : 0;
    if (setup_error) {
        explain_failure(crowd.job.failed_call, -setup_error, &crowd.job, note, note_size);
        round->outcome = OUTCOME_FAILED;
    } else {
        error = run_crowd(&crowd, request, round, phase, whole);
        if (workload->teardown)
            workload->teardown(&crowd.job);
    }
    peer_free(request->gate, crowd.job.lock);
out:
    if (error) { /* ours, but no reason to lose what others have measured */
        explain_failure("preparing the round", -error, &crowd.job, note, note_size);
        round->outcome = OUTCOME_FAILED;
    }
    free_workers(crowd.workers, request->threads);
}

static int lap_three_times(struct bench_worker *w)
{
    worker_lap(w, 0);
    worker_lap(w, 1);
    worker_lap(w, 2);
    return 0;
}

static int lap_twice(struct bench_worker *w)
{
    worker_lap(w, 0);
    worker_lap(w, 1);
    return 0;
}

static int lap_once(struct bench_worker *w)
{
    worker_lap(w, 0);
    return 0;
}

double round_overhead_ns(unsigned laps)
{
    static int (*const steps[])(struct bench_worker *) = {lap_once, lap_twice, lap_three_times};
    struct bench_workload idle = {.step = steps[laps - 1]};
    struct bench_job job = {.workload = &idle};
    struct bench_worker *w = make_workers(1);
    uint64_t done;
    double least = 0;

    if (!w)
        return 0;
    fill_worker(w, &job, 0);
    for (int try = 0; try < OVERHEAD_TRIES; try++) {
        uint64_t start = clock_monotonic_ns();
        loop(w, OVERHEAD_ITERATIONS, &done);
        double ns = (double)(clock_monotonic_ns() - start) / OVERHEAD_ITERATIONS;
        if (try == 0 || ns < least)
            least = ns; /* what disturbs it can only add */
    }
    free_workers(w, 1);
    return least;
}
