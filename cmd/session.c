/* One measurement from start to end. */
#include "cmd/session.h"
#include "bench/crew.h"
#include "cmd/cmd.h"
#include "result/clock.h"
#include "result/record.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int probe_pinning(void)
{
    cpu_set_t set;
    int error = pthread_getaffinity_np(pthread_self(), sizeof set, &set);

    if (!error)
        error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (!error || error == EINVAL) /* EINVAL: more CPUs than cpu_set_t has; threads will tell */
        return 0;
    complain("--pin: this process may not pin threads: %s (a sandbox or a system-call filter "
             "forbids sched_setaffinity; leave --pin out)",
             strerror(error));
    return -error;
}

bool wants_color(void)
{
    const char *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no && *no);
}

enum { SECOND_NS = 500000000 };

static uint64_t first_signal_ns; /* written and read by the handler only */

/*
 * The first signal ends the measurement and saves what there is; one that comes half a second later
 * ends us at once. Sooner ones are the first one's echo: timeout(1) signals us and then our group.
 */
static void handle_signal(int number)
{
    int saved_errno = errno;
    uint64_t now_ns = clock_monotonic_ns();

    if (!first_signal_ns) {
        first_signal_ns = now_ns;
        bench_interrupt(number);
    } else if (now_ns - first_signal_ns > SECOND_NS) {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = saved_errno;
}

/* With SA_RESTART from when there is nothing left to interrupt but printing and saving. */
static void take_signals(int flags)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    struct sigaction take = {.sa_handler = handle_signal, .sa_flags = flags}, now;

    sigemptyset(&take.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&take.sa_mask, signals[i]);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler != SIG_IGN) /* nohup stays */
            sigaction(signals[i], &take, NULL);
    /* A closed pipe and a full file are failed writes, and the record is still saved. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* ignored, children could not be waited for */
}

static void mark_end(json_t *record, int number, int error)
{
    if (number) {
        const char *name = sigabbrev_np(number);
        char text[32];
        snprintf(text, sizeof text, "SIG%s", name ? name : "?");
        json_object_set_new(record, "interrupted_by", json_string(text));
    } else if (!error) {
        json_object_set_new(record, "complete", json_true());
    }
}

static int print_json(const json_t *record)
{
    char *text = record_text(record);
    if (!text)
        return -ENOMEM;
    fputs(text, stdout);
    free(text);
    return 0;
}

/* Saves, then prints, since nobody knows how long stdout's reader takes. */
static int deliver(const struct session *session, const json_t *record, struct record_file *file,
                   int status)
{
    bool is_saved = !session->output || !record_save(file, record);

    if (!session->is_json)
        session->print(session->context);
    else if (print_json(record))
        status = EXIT_FAILED;
    status = finish_stdout(status);
    return is_saved || status != EXIT_DONE ? status : EXIT_FAILED;
}

int session_run(const struct session *session, int argc, char **argv)
{
    struct record_file file = {0};
    struct progress progress = progress_start(session->is_quiet);
    int status = EXIT_FAILED;

    if (session->output && (!session->output[0] || !strcmp(session->output, "-"))) {
        complain("--output takes the name of a file; --json prints the record");
        return EXIT_USAGE;
    }
    /* The machine's state is taken before we load it. */
    json_t *record = record_new(session->kind, argc, argv);
    if (!record) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    take_signals(0);
    if (session->output && record_open(&file, session->output))
        goto out;
    int error = session->run(session->context, &progress);
    int number = bench_interrupted();
    take_signals(SA_RESTART);
    progress_end(&progress);
    if (error)
        complain("could not go on: %s; what was measured until then follows", strerror(-error));
    if (session->add_to_record(session->context, record)) {
        complain("out of memory");
        goto out;
    }
    mark_end(record, number, error);
    if (number)
        status = EXIT_SIGNAL + number;
    else if (!error)
        status = session->status(session->context);
    status = deliver(session, record, &file, status);
out:
    record_abandon(&file);
    json_decref(record);
    return status;
}
