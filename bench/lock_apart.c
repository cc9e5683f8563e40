/* A round in a child: a lock that hangs cannot be stopped otherwise, nor can its threads be. */
#include "bench/lock_apart.h"
#include "bench/crew.h"
#include "result/clock.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 100, CHILD_DONE = 0, CHILD_UNPREPARED = 1 };
static const uint64_t interrupted_patience_ns = 2000000000;

/* What the child leaves, in memory that both see. */
struct report {
    int error;
    struct round_figures round;
    struct lock_variant variant;
    uint64_t thread_iterations[];
};

struct child {
    pid_t pid;
    int fd; /* a pidfd, or -1: then we look from time to time */
    bool is_over;
    int status;
};

static void run_child(const struct lock_request *request, struct report *report, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before that */
        _exit(CHILD_UNPREPARED);
    report->error = lock_round_run(request, &report->round, &report->variant);
    _exit(CHILD_DONE); /* buffers and exit handlers are the parent's */
}

/* Waits at most LOOK_MS. */
static int look(struct child *child)
{
    struct pollfd event = {.fd = child->fd, .events = POLLIN};

    /* Without a pidfd (a seccomp filter, say) this only passes time, in shorter pieces. */
    (void)poll(&event, child->fd >= 0, child->fd >= 0 ? LOOK_MS : 1);
    pid_t pid = waitpid(child->pid, &child->status, WNOHANG);
    if (pid < 0 && errno != EINTR)
        return -errno;
    child->is_over = pid == child->pid;
    return 0;
}

/* Sets *is_hung when the child had to be killed for its lateness. */
static int wait_for(struct child *child, uint64_t late_ns, bool *is_hung)
{
    bool is_told = false;
    int error = 0;

    *is_hung = false;
    while (!error && !child->is_over) {
        uint64_t now_ns = clock_monotonic_ns();
        if (bench_interrupted() && !is_told) {
            is_told = true;
            kill(child->pid, bench_interrupted());
            late_ns = now_ns + interrupted_patience_ns;
        }
        if (now_ns >= late_ns) {
            *is_hung = true;
            kill(child->pid, SIGKILL);
            error = waitpid(child->pid, &child->status, 0) < 0 ? -errno : 0;
            break;
        }
        error = look(child);
    }
    return error;
}

static void add_report(const struct report *report, unsigned threads, struct round_figures *round,
                       struct lock_variant *v)
{
    struct round_figures kept = *round;

    *round = report->round;
    round->round = kept.round;
    round->order = kept.order;
    round->thread_iterations = kept.thread_iterations;
    memcpy(round->thread_iterations, report->thread_iterations,
           threads * sizeof *round->thread_iterations);
    v->reads += report->variant.reads;
    v->writes += report->variant.writes;
    hist_merge(&v->read_wait, &report->variant.read_wait);
    hist_merge(&v->write_wait, &report->variant.write_wait);
    if (report->variant.series.note[0])
        memcpy(v->series.note, report->variant.series.note, sizeof v->series.note);
}

static void explain_hang(uint64_t patience_ns, struct round_figures *round, struct lock_variant *v)
{
    round->outcome = bench_interrupted() ? OUTCOME_INTERRUPTED : OUTCOME_HUNG;
    snprintf(v->series.note, sizeof v->series.note,
             "threads were still waiting for the lock %.3g s after the end of a round; killed",
             (double)(bench_interrupted() ? interrupted_patience_ns : patience_ns) / 1e9);
}

static void explain_death(int status, struct round_figures *round, struct lock_variant *v)
{
    round->outcome = OUTCOME_FAILED;
    if (WIFSIGNALED(status))
        snprintf(v->series.note, sizeof v->series.note, "its process was ended by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(v->series.note, sizeof v->series.note, "its process ended with status %d",
                 WEXITSTATUS(status));
}

static int run_in_child(const struct lock_request *request, uint64_t patience_ns,
                        struct report *report, struct round_figures *round, struct lock_variant *v)
{
    pid_t self = getpid();
    struct child child = {.pid = fork()};
    bool is_hung;

    if (child.pid < 0)
        return -errno;
    if (child.pid == 0)
        run_child(request, report, self);
    child.fd = (int)syscall(SYS_pidfd_open, child.pid, 0);
    uint64_t late_ns = clock_monotonic_ns() + request->round_ns + patience_ns;
    int error = wait_for(&child, late_ns, &is_hung);
    if (child.fd >= 0)
        close(child.fd);
    if (error)
        return error;
    if (is_hung)
        explain_hang(patience_ns, round, v);
    else if (!WIFEXITED(child.status) || WEXITSTATUS(child.status) != CHILD_DONE)
        explain_death(child.status, round, v);
    else if (report->error)
        return report->error;
    else
        add_report(report, request->is->threads, round, v);
    return 0;
}

int lock_round_run_apart(const struct lock_request *request, uint64_t patience_ns,
                         struct round_figures *round, struct lock_variant *variant)
{
    size_t size = sizeof(struct report) + request->is->threads * sizeof(*round->thread_iterations);
    struct report *report =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (report == MAP_FAILED)
        return -errno;
    report->round.thread_iterations = report->thread_iterations;
    int error = run_in_child(request, patience_ns, report, round, variant);
    munmap(report, size);
    return error;
}
