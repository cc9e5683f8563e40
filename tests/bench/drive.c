/* A small engine for workloads; see the header. */
#include "tests/bench/drive.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACK_BYTES = 256 << 10 };

struct seat {
    struct bench_worker worker;
    struct drive *drive;
    pthread_barrier_t *start;
    int error;
};

static void work(struct seat *seat)
{
    struct bench_worker *w = &seat->worker;
    struct bench_job *job = w->job;

    w->lap_ticks = clock_ticks();
    for (unsigned i = 0; i < seat->drive->iterations && !seat->error; i++) {
        if (atomic_load_explicit(&job->is_over, memory_order_relaxed))
            return;
        w->step_ticks = w->lap_ticks;
        seat->error = job->workload->step(w);
        if (!seat->error)
            hist_add(&w->whole, clock_span_ns(w->step_ticks, w->lap_ticks));
    }
}

static void *seat_main(void *argument)
{
    struct seat *seat = argument;
    struct bench_worker *w = &seat->worker;
    const struct bench_workload *workload = w->job->workload;

    seat->error = workload->enter ? workload->enter(w) : 0;
    bool has_entered = !seat->error;
    pthread_barrier_wait(seat->start);
    work(seat);
    if (seat->error)
        atomic_store_explicit(&w->job->is_over, true, memory_order_relaxed);
    if (has_entered && workload->leave)
        workload->leave(w);
    return NULL;
}

static void *beside_main(void *argument)
{
    struct bench_job *job = argument;
    job->workload->beside(job);
    return NULL;
}

static void collect(struct drive *d, const struct seat *seat)
{
    const struct bench_worker *w = &seat->worker;

    for (int p = 0; p < BENCH_PHASES; p++) {
        d->phase[p] += w->phase[p].count;
        d->phases_ns += w->phase[p].sum_ns;
    }
    d->whole += w->whole.count;
    d->whole_ns += w->whole.sum_ns;
    if (seat->error && !d->error) {
        d->error = seat->error;
        d->failed_call = w->failed_call;
    }
}

static int run_seats(struct drive *d, struct bench_job *job, struct seat *seats)
{
    pthread_t threads[DRIVE_THREADS_MAX], beside;
    pthread_barrier_t start;
    pthread_attr_t attributes;
    bool has_beside = job->workload->beside != NULL;

    pthread_barrier_init(&start, NULL, d->threads);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (has_beside && pthread_create(&beside, &attributes, beside_main, job))
        return -EAGAIN;
    for (unsigned i = 0; i < d->threads; i++) {
        seats[i].worker.job = job;
        seats[i].worker.index = i;
        seats[i].drive = d;
        seats[i].start = &start;
        if (pthread_create(&threads[i], &attributes, seat_main, &seats[i]))
            abort(); /* the others would wait at the barrier for ever */
    }
    for (unsigned i = 0; i < d->threads; i++)
        pthread_join(threads[i], NULL);
    atomic_store_explicit(&job->is_over, true, memory_order_relaxed);
    if (has_beside)
        pthread_join(beside, NULL);
    for (unsigned i = 0; i < d->threads; i++)
        collect(d, &seats[i]);
    pthread_attr_destroy(&attributes);
    pthread_barrier_destroy(&start);
    return 0;
}

int drive_run(struct drive *d)
{
    struct bench_job job = {
        .workload = d->workload,
        .gate = d->gate,
        .page_size = (size_t)sysconf(_SC_PAGESIZE),
        .touch = d->touch,
        .is_populated = d->is_populated,
        .threads = d->threads,
    };
    struct seat *seats = aligned_alloc(_Alignof(struct seat), d->threads * sizeof *seats);
    int error = -EAGAIN;

    if (!seats)
        return error;
    memset(seats, 0, d->threads * sizeof *seats);
    job.size = d->size ? d->size : d->workload->default_size;
    job.size = job.size ? job.size : job.page_size;
    job.lock = peer_make(d->gate, &error);
    if (error)
        goto out;
    d->error = d->workload->setup ? d->workload->setup(&job) : 0;
    d->failed_call = job.failed_call;
    if (!d->error) {
        error = run_seats(d, &job, seats);
        if (d->before_teardown)
            d->before_teardown();
        if (d->workload->teardown)
            d->workload->teardown(&job);
    }
out:
    peer_free(d->gate, job.lock);
    free(seats);
    return error;
}

/* Adds a line of /proc/self/maps, but for libc's own heap, which grows and shrinks as it likes. */
static void add_mapping(struct mapped *m, const char *line)
{
    unsigned long from, to;

    if (strstr(line, "[heap]") || sscanf(line, "%lx-%lx", &from, &to) != 2)
        return;
    m->bytes += to - from;
    m->mappings++;
}

struct mapped mapped_now(void)
{
    static char text[1 << 20];
    struct mapped m = {0, 0};
    size_t have = 0;
    ssize_t got;
    char *rest;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        abort();
    while (have < sizeof text - 1 && (got = read(fd, text + have, sizeof text - 1 - have)) > 0)
        have += (size_t)got;
    close(fd);
    text[have] = '\0';
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        add_mapping(&m, line);
    return m;
}

int lowest_free_fd(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        abort();
    close(fd);
    return fd;
}
