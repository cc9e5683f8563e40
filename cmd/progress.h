/* One line on a terminal's stderr that says what is being done and how long it will go on. */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include "bench/mmap.h"
#include <stdbool.h>

struct progress {
    bool is_shown; /* stderr is a terminal and nobody said --quiet */
    bool has_line; /* something stands there that must be wiped */
    uint64_t shown_ns;
};

struct progress progress_start(bool is_quiet);

/* Replaces the line, at most ten times a second. `context` is a struct progress. */
void progress_show(void *context, const struct bench_progress *now);

/* Wipes the line before anything else is printed. */
void progress_end(struct progress *p);

#endif
