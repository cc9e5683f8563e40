/* Checks a plan against the machine before anything is measured. */
#include "bench/plan.h"
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

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

static unsigned most_threads(const struct bench_plan *plan)
{
    unsigned most = 0;
    for (unsigned i = 0; i < plan->thread_count; i++)
        most = plan->threads[i] > most ? plan->threads[i] : most;
    return most;
}

int plan_check(const struct bench_plan *plan, char *why, size_t why_size)
{
    uint64_t threads = most_threads(plan);
    uint64_t available = available_memory();
    bool touches_all = plan->is_populated || plan->touch == TOUCH_ALL;
    unsigned __int128 wanted = (unsigned __int128)plan->size * threads;

    if (wanted >> 46) {
        snprintf(why, why_size,
                 "%llu threads with mappings of %llu bytes do not fit in an address space: a "
                 "smaller --size or fewer --threads",
                 (unsigned long long)threads, (unsigned long long)plan->size);
        return -EINVAL;
    }
    if (touches_all && available && wanted > available / 2) {
        snprintf(why, why_size,
                 "%llu threads that fill mappings of %llu bytes would take %llu MiB, more than "
                 "half of the %llu MiB available: a smaller --size, fewer --threads, or --touch "
                 "first",
                 (unsigned long long)threads, (unsigned long long)plan->size,
                 (unsigned long long)(wanted >> 20), (unsigned long long)(available >> 20));
        return -ENOMEM;
    }
    return 0;
}
