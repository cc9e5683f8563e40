/* Affinity, CPUs online and quota into one answer; the groups themselves are cgroup.c's. */
#include "result/cpus.h"
#include "result/cgroup.h"
#include "result/cpulist.h"
#include "result/root.h"
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static bool add_cpu(struct cpus *out, unsigned cpu)
{
    if (out->allowed == CPUS_MAX)
        return false;
    out->list[out->allowed++] = (int)cpu;
    return true;
}

/*
 * Fills list and allowed from the affinity mask. The kernel refuses a mask that is smaller than its
 * own, so it is tried with ever larger ones; glibc's cpu_set_t ends at 1024 CPUs.
 */
static void read_affinity(struct cpus *out)
{
    for (unsigned cpus = 1024; cpus <= 1u << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set)
            return;
        size_t size = CPU_ALLOC_SIZE(cpus);
        CPU_ZERO_S(size, set);
        int failed = sched_getaffinity(0, size, set) != 0 ? errno : 0;
        for (unsigned cpu = 0; !failed && cpu < cpus; cpu++) {
            if (CPU_ISSET_S(cpu, size, set) && !add_cpu(out, cpu))
                break;
        }
        CPU_FREE(set);
        if (failed != EINVAL)
            return;
    }
}

/* Where the mask can't be had (a sandbox), all that are online count as allowed. */
static void allow_online(struct cpus *out, const char *online)
{
    unsigned first, last;
    while (cpulist_next(&online, &first, &last)) {
        for (unsigned cpu = first; cpu <= last; cpu++) {
            if (!add_cpu(out, cpu))
                return;
        }
    }
    for (unsigned cpu = 0; out->allowed == 0 && cpu < out->online; cpu++) {
        if (!add_cpu(out, cpu))
            return;
    }
}

unsigned cpus_usable(unsigned allowed, double quota)
{
    if (quota > 0 && quota < allowed) {
        unsigned whole = (unsigned)quota;
        allowed = whole + (whole < quota);
    }
    return allowed > 0 ? allowed : 1;
}

void cpus_read_from(const char *root, struct cpus *out)
{
    char online[8 * CPUS_MAX / 2];
    out->allowed = 0;
    out->quota = 0;
    root_read(root, online, sizeof(online), "/sys/devices/system/cpu/online");
    out->online = cpulist_count(online);
    if (out->online == 0) {
        long asked = sysconf(_SC_NPROCESSORS_ONLN);
        out->online = asked > 0 ? (unsigned)asked : 1;
    }
    read_affinity(out);
    if (out->allowed == 0)
        allow_online(out, online);
    cgroup_cpu_quota(root, &out->quota);
    out->usable = cpus_usable(out->allowed, out->quota);
}

void cpus_read(struct cpus *out)
{
    cpus_read_from("", out);
}
