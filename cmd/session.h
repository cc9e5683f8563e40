/*
 * One measurement from start to end, the same for every measuring command: the record's file, the
 * signals, the run, what is printed, the exit status. A command says what is its own.
 */
#ifndef CMD_SESSION_H
#define CMD_SESSION_H

#include "cmd/progress.h"
#include <jansson.h>
#include <stdbool.h>

struct session {
    const char *kind;   /* of the record: "bench mmap" */
    const char *output; /* file for the record; NULL: none */
    bool is_json;       /* print the record and nothing else */
    bool is_quiet;      /* no progress, no messages where nothing is wrong */
    void *context;      /* for the following */
    int (*run)(void *context, struct progress *progress); /* 0 or a negative errno */
    int (*add_to_record)(void *context, json_t *frame);   /* 0 or a negative errno */
    void (*print)(void *context);                         /* to stdout, unless is_json */
    int (*status)(void *context); /* of what was measured, unless it was interrupted */
};

/* Does all of it. Returns the exit status. What was measured is printed and saved in any case. */
int session_run(const struct session *session, int argc, char **argv);

/*
 * Whether threads may be pinned here. 0, or a negative errno with a message. Leaves the caller's
 * own affinity as it is.
 */
int probe_pinning(void);

/* Whether a report on stdout should have colours. */
bool wants_color(void);

#endif
