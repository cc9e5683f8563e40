/* The progress line. */
#include "cmd/progress.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIPE "\r\033[K"

enum { LEAST_NS = 100000000 };

struct progress progress_start(bool is_quiet)
{
    const char *terminal = getenv("TERM");
    bool can_wipe = terminal && strcmp(terminal, "dumb");
    return (struct progress){.is_shown = !is_quiet && can_wipe && isatty(STDERR_FILENO)};
}

void progress_show(void *context, const struct bench_progress *now)
{
    struct progress *p = context;
    uint64_t at_ns = clock_monotonic_ns();

    if (!p->is_shown || (p->has_line && at_ns - p->shown_ns < LEAST_NS))
        return;
    p->has_line = true;
    p->shown_ns = at_ns;
    fprintf(stderr, WIPE "%3u %%  %s", now->total ? 100 * now->done / now->total : 0, now->doing);
    if (now->left_ns)
        fprintf(stderr, ", about %.0f s left", (double)now->left_ns / 1e9 + 0.5);
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->has_line)
        fputs(WIPE, stderr);
    p->has_line = false;
}
