/* Starts the threads of a measurement, lets them go together, ends them on time, adds up. */
#include "bench/crew.h"
#include "result/clock.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { STACK_BYTES = 256 * 1024 };

static _Atomic int interrupted_by;
static _Atomic bool *_Atomic running; /* the is_over that the signal handler sets */

struct crew;

struct member {
    struct crew *crew;
    unsigned index;
    pthread_t thread;
    uint64_t iterations;
    uint64_t end_ns;
    struct rusage used; /* by the work alone */
    uint64_t cpu_ns;    /* the same; rusage only counts whole ticks of what is running */
    int error;
};

struct crew {
    const struct crew_job *job;
    struct member *members;
    unsigned started; /* threads that exist */
    pthread_t beside;
    bool has_beside;
    pthread_mutex_t mutex; /* guards ready, start, is_explained */
    pthread_cond_t changed;
    unsigned ready; /* threads that wait for the start */
    enum { HOLD, GO, GO_HOME } start;
    bool is_explained;
    _Atomic unsigned working; /* threads that are not done; the last one posts all_done */
    sem_t all_done;
};

void bench_interrupt(int signal_number)
{
    /* Both sequentially consistent, as in run(): it publishes `running`, then reads the signal. */
    atomic_store(&interrupted_by, signal_number);
    _Atomic bool *is_over = atomic_load(&running);
    if (is_over)
        atomic_store_explicit(is_over, true, memory_order_relaxed);
}

int bench_interrupted(void)
{
    return atomic_load(&interrupted_by);
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note_failure(struct member *m, const char *call)
{
    struct crew *crew = m->crew;
    pthread_mutex_lock(&crew->mutex);
    if (!crew->is_explained)
        crew->job->explain(crew->job->context, m->index, call, -m->error);
    crew->is_explained = true;
    pthread_mutex_unlock(&crew->mutex);
    atomic_store_explicit(crew->job->is_over, true, memory_order_relaxed);
}

int crew_pin_self(int cpu)
{
    size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t *set = CPU_ALLOC(cpu + 1);

    if (!set)
        return -ENOMEM;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    int error = pthread_setaffinity_np(pthread_self(), bytes, set);
    CPU_FREE(set);
    return -error;
}

static int pin(const struct member *m)
{
    const struct cpus *cpus = m->crew->job->pin_to;
    return crew_pin_self(cpus->list[m->index % cpus->allowed]);
}

static bool wait_for_start(struct crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->ready++;
    pthread_cond_broadcast(&crew->changed);
    while (crew->start == HOLD)
        pthread_cond_wait(&crew->changed, &crew->mutex);
    bool goes = crew->start == GO;
    pthread_mutex_unlock(&crew->mutex);
    return goes;
}

/* Does the work and notes what it used. */
static void work(struct member *m)
{
    const struct crew_job *job = m->crew->job;
    struct rusage before = {0};

    /* A system-call filter may refuse: then the counts stay 0, and say nothing wrong. */
    bool is_counted = !getrusage(RUSAGE_THREAD, &before);
    m->cpu_ns = thread_cpu_ns();
    m->error = job->work(job->context, m->index, &m->iterations);
    m->end_ns = clock_monotonic_ns();
    m->cpu_ns = thread_cpu_ns() - m->cpu_ns;
    if (!is_counted || getrusage(RUSAGE_THREAD, &m->used))
        m->used = before = (struct rusage){0};
    m->used.ru_nvcsw -= before.ru_nvcsw;
    m->used.ru_nivcsw -= before.ru_nivcsw;
    m->used.ru_minflt -= before.ru_minflt;
    m->used.ru_majflt -= before.ru_majflt;
    if (m->error)
        note_failure(m, NULL);
}

static void *member_main(void *argument)
{
    struct member *m = argument;
    const struct crew_job *job = m->crew->job;

    if (job->pin_to && (m->error = pin(m)))
        note_failure(m, "sched_setaffinity");
    bool has_entered = !m->error;
    if (has_entered && job->enter && (m->error = job->enter(job->context, m->index))) {
        has_entered = false;
        note_failure(m, NULL);
    }
    if (wait_for_start(m->crew) && has_entered)
        work(m);
    if (atomic_fetch_sub(&m->crew->working, 1) == 1)
        sem_post(&m->crew->all_done);
    if (has_entered && job->leave)
        job->leave(job->context, m->index);
    return NULL;
}

static void *beside_main(void *argument)
{
    struct crew *crew = argument;
    if (wait_for_start(crew))
        crew->job->beside(crew->job->context);
    return NULL;
}

/* Starts all threads with signals blocked, so that only the caller's thread takes them. */
static int start_threads(struct crew *crew)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (!error && crew->started < crew->job->threads) {
        struct member *m = &crew->members[crew->started];
        m->crew = crew;
        m->index = crew->started;
        error = pthread_create(&m->thread, &attributes, member_main, m);
        crew->started += !error;
    }
    if (!error && crew->job->beside) {
        error = pthread_create(&crew->beside, &attributes, beside_main, crew);
        crew->has_beside = !error;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Lets the threads go (or home) once all are ready. Returns the moment of the start. */
static uint64_t open_gate(struct crew *crew, bool go)
{
    pthread_mutex_lock(&crew->mutex);
    while (crew->ready < crew->started + crew->has_beside)
        pthread_cond_wait(&crew->changed, &crew->mutex);
    crew->start = go ? GO : GO_HOME;
    uint64_t start_ns = clock_monotonic_ns();
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->mutex);
    return start_ns;
}

/* Waits until the threads are done or `deadline_ns` has come; true if time ran out. */
static bool wait_until_done(struct crew *crew, uint64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                                .tv_nsec = (long)(deadline_ns % 1000000000u)};
    while (sem_clockwait(&crew->all_done, CLOCK_MONOTONIC, &deadline)) {
        bool has_run_out = errno == ETIMEDOUT;
        if (!has_run_out && !bench_interrupted())
            continue;
        atomic_store_explicit(crew->job->is_over, true, memory_order_relaxed);
        if (crew->job->hurry)
            crew->job->hurry(crew->job->context);
        if (has_run_out)
            return true;
    }
    return false;
}

static void join_threads(struct crew *crew)
{
    for (unsigned i = 0; i < crew->started; i++)
        pthread_join(crew->members[i].thread, NULL);
    atomic_store_explicit(crew->job->is_over, true, memory_order_relaxed);
    if (crew->has_beside)
        pthread_join(crew->beside, NULL);
}

static void add_up(const struct crew *crew, uint64_t start_ns, struct round_figures *figures)
{
    figures->outcome = bench_interrupted() ? OUTCOME_INTERRUPTED : OUTCOME_OK;
    for (unsigned i = 0; i < crew->started; i++) {
        const struct member *m = &crew->members[i];
        figures->thread_iterations[i] = m->iterations;
        figures->iterations += m->iterations;
        figures->cpu_ns += m->cpu_ns;
        figures->voluntary_switches += (uint64_t)m->used.ru_nvcsw;
        figures->involuntary_switches += (uint64_t)m->used.ru_nivcsw;
        figures->minor_faults += (uint64_t)m->used.ru_minflt;
        figures->major_faults += (uint64_t)m->used.ru_majflt;
        if (m->error)
            figures->outcome = OUTCOME_FAILED;
        if (m->end_ns > start_ns && m->end_ns - start_ns > figures->elapsed_ns)
            figures->elapsed_ns = m->end_ns - start_ns;
    }
}

static void run(struct crew *crew, struct crew_result *result, struct round_figures *figures)
{
    result->start_error = start_threads(crew);
    result->started = crew->started;
    atomic_store(&crew->working, crew->started);
    /* From here a signal ends the work; one that came before is seen by the look after. */
    atomic_store(&running, crew->job->is_over);
    bool goes = !result->start_error && !bench_interrupted();
    uint64_t start_ns = open_gate(crew, goes);
    result->has_run_out = goes && wait_until_done(crew, start_ns + crew->job->most_ns);
    join_threads(crew);
    atomic_store(&running, NULL);
    add_up(crew, start_ns, figures);
    if (result->start_error)
        figures->outcome = OUTCOME_FAILED;
}

int crew_run(const struct crew_job *job, struct crew_result *result, struct round_figures *figures)
{
    struct crew crew = {.job = job, .members = calloc(job->threads, sizeof *crew.members)};

    memset(result, 0, sizeof *result);
    if (!crew.members)
        return -ENOMEM;
    pthread_mutex_init(&crew.mutex, NULL);
    pthread_cond_init(&crew.changed, NULL);
    sem_init(&crew.all_done, 0, 0);
    run(&crew, result, figures);
    sem_destroy(&crew.all_done);
    pthread_cond_destroy(&crew.changed);
    pthread_mutex_destroy(&crew.mutex);
    free(crew.members);
    return 0;
}
