/*
 * What limits this process and how busy the machine is: memory, control groups, rlimits,
 * scheduling, load. A limit that is not set reads "unlimited".
 */
#include "result/cgroup.h"
#include "result/env.h"
#include "result/root.h"
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static json_t *unlimited(void)
{
    return json_string("unlimited");
}

/* A "MemTotal:  123 kB" of /proc/meminfo or "Seccomp: 2" of /proc/self/status. */
static bool read_field(const struct env *e, const char *path, const char *field, long long *value)
{
    FILE *file = root_open(e->root, "%s", path);
    if (!file)
        return false;
    char *line = NULL;
    size_t size = 0;
    size_t length = strlen(field);
    bool is_found = false;
    while (!is_found && getline(&line, &size, file) > 0)
        is_found = strncmp(line, field, length) == 0 && line[length] == ':' &&
                   sscanf(line + length + 1, "%lld", value) == 1;
    free(line);
    fclose(file);
    return is_found;
}

static void put_memory_amount(struct env *e, const char *key, const char *field)
{
    long long kib;
    if (read_field(e, "/proc/meminfo", field, &kib))
        env_put(e, key, json_integer(kib * 1024));
    else
        env_put_missing(e, key, "/proc/meminfo has no %s", field);
}

void env_memory(struct env *e)
{
    static const struct env_fact facts[] = {
        {"thp", ENV_CHOICE, "/sys/kernel/mm/transparent_hugepage/enabled"},
        {"thp_defrag", ENV_CHOICE, "/sys/kernel/mm/transparent_hugepage/defrag"},
        {"thp_shmem", ENV_CHOICE, "/sys/kernel/mm/transparent_hugepage/shmem_enabled"},
        {"thp_size_bytes", ENV_INTEGER, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"},
        {"overcommit", ENV_INTEGER, "/proc/sys/vm/overcommit_memory"},
        {"max_map_count", ENV_INTEGER, "/proc/sys/vm/max_map_count"},
    };
    env_begin(e, "memory");
    put_memory_amount(e, "total_bytes", "MemTotal");
    put_memory_amount(e, "available_bytes", "MemAvailable");
    put_memory_amount(e, "swap_bytes", "SwapTotal");
    env_put(e, "page_bytes", json_integer(sysconf(_SC_PAGESIZE)));
    env_put_files(e, facts, sizeof(facts) / sizeof(facts[0]));
}

static void put_group_missing(struct env *e, const char *key, const char *controller, int visited)
{
    if (visited < 0)
        env_put_missing(e, key, "/proc/self/mountinfo or cgroup: %s", strerror(-visited));
    else
        env_put_missing(e, key, "no control group of this process with %s is visible", controller);
}

static void put_group_limit(struct env *e, const char *key, const char *controller,
                            const char *v2_file, const char *v1_file)
{
    struct cgroup_limit limit;
    int visited = cgroup_least(e->root, controller, v2_file, v1_file, &limit);
    if (visited <= 0)
        put_group_missing(e, key, controller, visited);
    else
        env_put(e, key, limit.is_limited ? json_integer((json_int_t)limit.value) : unlimited());
}

static void put_group_quota(struct env *e)
{
    double quota;
    int visited = cgroup_cpu_quota(e->root, &quota);
    if (visited <= 0)
        put_group_missing(e, "cgroup_cpus", "cpu", visited);
    else
        env_put(e, "cgroup_cpus", quota > 0 ? json_real(quota) : unlimited());
}

static void put_groups(struct env *e)
{
    const char *version = cgroup_version(e->root);
    if (version)
        env_put_text(e, "cgroup_version", version);
    else
        env_put_missing(e, "cgroup_version", "/proc/self/mountinfo is not readable");
    put_group_quota(e);
    put_group_limit(e, "cgroup_memory_bytes", "memory", "memory.max", "memory.limit_in_bytes");
    put_group_limit(e, "cgroup_memory_high_bytes", "memory", "memory.high", NULL);
    put_group_limit(e, "cgroup_pids", "pids", "pids.max", "pids.max");
}

static void put_rlimits(struct env *e)
{
    static const struct {
        const char *key;
        int resource;
    } rlimits[] = {
        {"rlimit_address_space_bytes", RLIMIT_AS}, {"rlimit_data_bytes", RLIMIT_DATA},
        {"rlimit_stack_bytes", RLIMIT_STACK},      {"rlimit_locked_bytes", RLIMIT_MEMLOCK},
        {"rlimit_file_bytes", RLIMIT_FSIZE},       {"rlimit_processes", RLIMIT_NPROC},
    };
    for (size_t i = 0; i < sizeof(rlimits) / sizeof(rlimits[0]); i++) {
        struct rlimit limit;
        if (getrlimit(rlimits[i].resource, &limit) != 0)
            env_put_missing(e, rlimits[i].key, "getrlimit: %s", strerror(errno));
        else if (limit.rlim_cur > INT64_MAX) /* RLIM_INFINITY is the greatest of them */
            env_put(e, rlimits[i].key, unlimited());
        else
            env_put(e, rlimits[i].key, json_integer((json_int_t)limit.rlim_cur));
    }
}

void env_limits(struct env *e)
{
    static const struct env_fact facts[] = {
        {"threads_max", ENV_INTEGER, "/proc/sys/kernel/threads-max"},
        {"pid_max", ENV_INTEGER, "/proc/sys/kernel/pid_max"},
    };
    env_begin(e, "limits");
    env_put_files(e, facts, sizeof(facts) / sizeof(facts[0]));
    put_groups(e);
    put_rlimits(e);
}

void env_process(struct env *e)
{
    static const struct {
        int policy;
        const char *name;
    } policies[] = {{SCHED_OTHER, "other"}, {SCHED_BATCH, "batch"}, {SCHED_IDLE, "idle"},
                    {SCHED_FIFO, "fifo"},   {SCHED_RR, "rr"},       {6, "deadline"}};
    static const char *const seccomp_modes[] = {"off", "strict", "filter"};
    env_begin(e, "process");

    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    const char *name = NULL;
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        name = policies[i].policy == policy ? policies[i].name : name;
    if (name)
        env_put_text(e, "policy", name);
    else
        env_put_missing(e, "policy", "policy %d has no name here", policy);

    env_put(e, "nice", json_integer(getpriority(PRIO_PROCESS, 0)));

    long long mode;
    if (read_field(e, "/proc/self/status", "Seccomp", &mode) && mode >= 0 && mode <= 2)
        env_put_text(e, "seccomp", seccomp_modes[mode]);
    else
        env_put_missing(e, "seccomp", "/proc/self/status does not tell");
}

/* What share of its time since boot the host gave to others. */
static void put_steal(struct env *e)
{
    unsigned long long t[8] = {0};
    FILE *file = root_open(e->root, "/proc/stat");
    int fields = 0;
    if (file) {
        fields = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
                        &t[3], &t[4], &t[5], &t[6], &t[7]);
        fclose(file);
    }
    double total = 0;
    for (int i = 0; i < 8; i++)
        total += (double)t[i]; /* guest time, which follows, is in the first two already */
    if (fields == 8 && total > 0)
        env_put(e, "steal_share_since_boot", json_real((double)t[7] / total));
    else
        env_put_missing(e, "steal_share_since_boot", "/proc/stat does not tell steal time");
}

void env_load(struct env *e)
{
    static const char *const keys[] = {"average_1min", "average_5min", "average_15min"};
    double average[3];
    unsigned runnable, threads;
    char text[128];
    env_begin(e, "load");
    root_read(e->root, text, sizeof(text), "/proc/loadavg");
    bool is_read = sscanf(text, "%lf %lf %lf %u/%u", &average[0], &average[1], &average[2],
                          &runnable, &threads) == 5;
    for (size_t i = 0; i < 3; i++) {
        if (is_read)
            env_put(e, keys[i], json_real(average[i]));
        else
            env_put_missing(e, keys[i], "/proc/loadavg is not readable");
    }
    if (is_read) {
        env_put(e, "runnable", json_integer(runnable));
        env_put(e, "threads", json_integer(threads));
    } else {
        env_put_missing(e, "runnable", "/proc/loadavg is not readable");
        env_put_missing(e, "threads", "/proc/loadavg is not readable");
    }
    put_steal(e);
}
