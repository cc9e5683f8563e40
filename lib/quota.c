/*
 * How many CPUs' worth of time the control groups of this process may use. Both versions: the
 * unified hierarchy where systemd mounts it, the cpu controller of version 1 where it has it. Looks
 * at every group from the own one up to the root of the mount, so that in a container, where the
 * name that /proc tells may be the host's and the mount's root is the own group, that root is
 * found.
 */
#include "os.h"
#include <stdio.h>
#include <string.h>

#define NO_QUOTA UINT32_MAX

/* Not on the stack, which in a signal handler or a small thread may be no larger. One caller at a
 * time. */
static struct {
    char text[8192], group[4300], path[4400];
} room;

static unsigned as_cpus(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return NO_QUOTA;
    quota = quota / period + (quota % period != 0); /* half a CPU is one thread's */
    return quota < NO_QUOTA ? (unsigned)quota : NO_QUOTA;
}

static unsigned quota_v2(const char *group)
{
    char text[64];
    long long quota, period;

    snprintf(room.path, sizeof(room.path), "%s/cpu.max", group);
    if (os_read_file(room.path, text, sizeof(text)) <= 0 ||
        sscanf(text, "%lld %lld", &quota, &period) != 2) /* "max 100000": none */
        return NO_QUOTA;
    return as_cpus(quota, period);
}

static unsigned quota_v1(const char *group)
{
    char text[64];
    long long quota, period;

    snprintf(room.path, sizeof(room.path), "%s/cpu.cfs_quota_us", group);
    if (os_read_file(room.path, text, sizeof(text)) <= 0 || sscanf(text, "%lld", &quota) != 1)
        return NO_QUOTA;
    snprintf(room.path, sizeof(room.path), "%s/cpu.cfs_period_us", group);
    if (os_read_file(room.path, text, sizeof(text)) <= 0 || sscanf(text, "%lld", &period) != 1)
        return NO_QUOTA;
    return as_cpus(quota, period);
}

/* The least of the group called `name` in the hierarchy mounted at `mount` and those above it. */
static unsigned least_up_from(const char *mount, const char *name,
                              unsigned (*quota)(const char *group))
{
    char *group = room.group, *end;
    unsigned least = NO_QUOTA, here;

    snprintf(group, sizeof(room.group), "%s%s", mount, name);
    for (;;) {
        here = quota(group);
        least = here < least ? here : least;
        end = strrchr(group + strlen(mount), '/');
        if (!end)
            return least;
        *end = '\0';
    }
}

static bool has_cpu(const char *controllers)
{
    size_t length;

    for (; *controllers; controllers += length + (controllers[length] == ',')) {
        length = strcspn(controllers, ",");
        if (length == 3 && strncmp(controllers, "cpu", 3) == 0)
            return true;
    }
    return false;
}

/* One line of /proc/self/cgroup, "4:cpu,cpuacct:/group" or "0::/group". */
static unsigned quota_of_line(const char *root, char *line)
{
    char mount[256], *controllers = strchr(line, ':'), *name;

    name = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!name)
        return NO_QUOTA;
    *controllers++ = *name++ = '\0';
    if (!*controllers) {
        snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
        return least_up_from(mount, name, quota_v2);
    }
    if (!has_cpu(controllers))
        return NO_QUOTA;
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu", root);
    return least_up_from(mount, name, quota_v1);
}

unsigned os_quota_cpus(const char *root)
{
    char path[256], *line, *end;
    unsigned least = NO_QUOTA, here;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (os_read_file(path, room.text, sizeof(room.text)) <= 0)
        return NO_QUOTA;
    for (line = room.text; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        here = quota_of_line(root, line);
        least = here < least ? here : least;
    }
    return least;
}
