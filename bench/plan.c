/* Checks a plan against the machine before anything is measured. */
#include "bench/plan.h"
#include "result/cgroup.h"
#include <errno.h>
#include <stdio.h>

static const char *const touch_names[] = {"none", "first", "all"};

const char *touch_name(enum bench_touch touch)
{
    return touch_names[touch];
}

/* MemAvailable in bytes; 0 if the kernel does not tell. */
static uint64_t available_memory(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");

    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    fclose(f);
    return (uint64_t)kib << 10;
}

/* What may be filled before somebody is killed for it: the machine's, or the control groups' limit.
 * What the groups use already is mostly cache that gives way. */
static uint64_t usable_memory(void)
{
    struct cgroup_limit limit = {0};
    uint64_t available = available_memory();

    if (cgroup_least("", "memory", "memory.max", "memory.limit_in_bytes", &limit) > 0 &&
        limit.is_limited && (!available || limit.value < available))
        return limit.value;
    return available;
}

static unsigned most_threads(const struct bench_plan *plan)
{
    unsigned most = 0;
    for (unsigned i = 0; i < plan->thread_count; i++)
        most = plan->threads[i] > most ? plan->threads[i] : most;
    return most;
}

/* Bytes that all threads together may hold filled at once, with `touched` of each mapping. */
static unsigned __int128 filled(const struct bench_plan *plan, uint64_t touched)
{
    const struct bench_workload *w = plan->workload;
    return ((unsigned __int128)touched * w->held_sizes + w->held_bytes) * most_threads(plan);
}

int plan_check(const struct bench_plan *plan, char *why, size_t why_size)
{
    uint64_t usable = usable_memory();
    bool touches_all = plan->is_populated || plan->touch == TOUCH_ALL;
    unsigned __int128 mapped = filled(plan, plan->size);

    if (mapped >> 46) {
        snprintf(why, why_size,
                 "%u threads with mappings of %llu bytes do not fit in an address space: a smaller "
                 "--size or fewer --threads",
                 most_threads(plan), (unsigned long long)plan->size);
        return -EINVAL;
    }
    if (touches_all && usable && mapped > usable / 2) {
        snprintf(why, why_size,
                 "%u threads would fill %llu MiB, more than half of the %llu MiB that may be used "
                 "here: a smaller --size, fewer --threads, or --touch first",
                 most_threads(plan), (unsigned long long)(mapped >> 20),
                 (unsigned long long)(usable >> 20));
        return -ENOMEM;
    }
    return 0;
}
