/* One measurement from start to end. */
#include "cmd/session.h"
#include "bench/crew.h"
#include "cmd/cmd.h"
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

static void take_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    /* Once: the first saves what there is, a second of the same kind ends us at once. */
    struct sigaction take = {.sa_handler = bench_interrupt, .sa_flags = (int)SA_RESETHAND}, now;

    sigemptyset(&take.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler != SIG_IGN) /* nohup stays */
            sigaction(signals[i], &take, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, and the record is still saved */
}

static void mark_end(json_t *record)
{
    int number = bench_interrupted();

    if (number) {
        const char *name = sigabbrev_np(number);
        char text[32];
        snprintf(text, sizeof text, "SIG%s", name ? name : "?");
        json_object_set_new(record, "interrupted_by", json_string(text));
    } else {
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

/* Prints and saves; `status` is what the measurement itself came to. */
static int deliver(const struct session *session, const json_t *record, struct record_file *file,
                   int status)
{
    if (!session->is_json)
        session->print(session->context);
    else if (print_json(record))
        status = EXIT_FAILED;
    status = finish_stdout(status);
    if (session->output && record_save(file, record))
        status = status == EXIT_DONE ? EXIT_FAILED : status;
    return status;
}

int session_run(const struct session *session, int argc, char **argv)
{
    struct record_file file = {0};
    struct progress progress = progress_start(session->is_quiet);
    int status = EXIT_FAILED;

    /* The machine's state is taken before we load it. */
    json_t *record = record_new(session->kind, argc, argv);
    if (!record) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    take_signals();
    if (session->output && record_open(&file, session->output))
        goto out;
    int error = session->run(session->context, &progress);
    progress_end(&progress);
    if (!error)
        error = session->add_to_record(session->context, record);
    if (error) {
        complain("could not go on: %s", strerror(-error));
        goto out;
    }
    mark_end(record);
    status =
        bench_interrupted() ? EXIT_SIGNAL + bench_interrupted() : session->status(session->context);
    status = deliver(session, record, &file, status);
out:
    record_abandon(&file);
    json_decref(record);
    return status;
}
