/* Named cases of `rwsem bench lock`: rows of a table. */
#include "bench/lock.h"
#include <errno.h>
#include <string.h>

struct row {
    const char *preset;
    unsigned threads, per_cpu; /* threads + per_cpu * CPUs */
    unsigned writers;
    double write_share;
    uint64_t inside_ns, outside_ns;
};

/* The order of this list is that of the default grid; `classic` stands apart. */
const char *const lock_preset_names[] = {
    "uncontended",    "read-only",     "read-mostly",   "half",    "write-only",
    "oversubscribed", "starve-writer", "starve-reader", "classic", NULL,
};

static const char *const abouts[] = {
    "one thread, reads or writes, nothing inside: the cost of the fast path",
    "readers alone",
    "1 % and 10 % writes",
    "half writes",
    "writes alone",
    "8 and 32 threads a CPU, short and long holds",
    "one writer against constant readers",
    "one reader against constant writers",
    "writes alone from 2 to 32 threads, as mmap had it in 2011",
};

static const struct row rows[] = {
    {"uncontended", 1, 0, 0, 0, 0, 0},        {"uncontended", 1, 0, 0, 1, 0, 0},
    {"read-only", 2, 0, 0, 0, 0, 0},          {"read-only", 0, 8, 0, 0, 50, 50},
    {"read-mostly", 2, 0, 0, 0.01, 50, 50},   {"read-mostly", 2, 0, 0, 0.1, 50, 50},
    {"read-mostly", 0, 8, 0, 0.1, 50, 50},    {"half", 2, 0, 0, 0.5, 50, 50},
    {"half", 0, 8, 0, 0.5, 50, 50},           {"write-only", 2, 0, 0, 1, 50, 50},
    {"write-only", 0, 8, 0, 1, 50, 50},       {"oversubscribed", 0, 8, 0, 1, 5000, 0},
    {"oversubscribed", 0, 32, 0, 1, 50, 50},  {"starve-writer", 13, 0, 1, 0, 1000, 0},
    {"starve-reader", 13, 0, 12, 0, 1000, 0}, {"classic", 2, 0, 0, 1, 1000, 5000},
    {"classic", 4, 0, 0, 1, 1000, 5000},      {"classic", 8, 0, 0, 1, 1000, 5000},
    {"classic", 16, 0, 0, 1, 1000, 5000},     {"classic", 32, 0, 0, 1, 1000, 5000},
};

const char *lock_preset_about(const char *name)
{
    for (size_t i = 0; lock_preset_names[i]; i++)
        if (!strcmp(lock_preset_names[i], name))
            return abouts[i];
    return NULL;
}

int lock_preset_add(struct lock_plan *plan, const char *name, unsigned cpus)
{
    if (!lock_preset_about(name))
        return -ENOENT;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        if (strcmp(row->preset, name))
            continue;
        if (plan->case_count == LOCK_CASES_MAX)
            return -E2BIG;
        unsigned threads = row->threads + row->per_cpu * cpus;
        plan->cases[plan->case_count++] = (struct lock_case){
            .preset = row->preset,
            .threads = threads > LOCK_THREADS_MAX ? LOCK_THREADS_MAX : threads,
            .writers = row->writers,
            .write_share = row->write_share,
            .inside_ns = row->inside_ns,
            .outside_ns = row->outside_ns,
        };
    }
    return 0;
}
