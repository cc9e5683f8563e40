/* Which kernel this is: release, how it preempts, clock source, mitigations, and its switches. */
#include "result/env.h"
#include "result/root.h"
#include "result/text.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The modes as the kernel's own file and boot option call them, and the switch that makes them. */
static const struct {
    const char *mode;
    const char *config;
} preemption_modes[] = {
    {"none", "PREEMPT_NONE"},
    {"voluntary", "PREEMPT_VOLUNTARY"},
    {"lazy", "PREEMPT_LAZY"},
    {"full", "PREEMPT"},
};

enum { PREEMPTION_MODES = sizeof(preemption_modes) / sizeof(preemption_modes[0]) };

static const char *configured_preemption(const struct env *e)
{
    for (size_t i = 0; i < PREEMPTION_MODES; i++) {
        const char *value = env_config_value(e, preemption_modes[i].config);
        if (value && strcmp(value, "y") == 0)
            return preemption_modes[i].mode;
    }
    return NULL;
}

static bool is_preemption_mode(const char *word)
{
    for (size_t i = 0; i < PREEMPTION_MODES; i++) {
        if (strcmp(word, preemption_modes[i].mode) == 0)
            return true;
    }
    return false;
}

static void put_preemption_mode(struct env *e, const char *mode, const char *source)
{
    env_put_text(e, "preemption", mode);
    env_put_text(e, "preemption_source", source);
}

/*
 * The mode in force, by the best source there is: the scheduler's debug file (root, debugfs
 * mounted), the version string of a kernel with one mode only, the boot option, the built-in one.
 */
static void put_preemption(struct env *e, const char *version)
{
    char text[128];
    bool is_dynamic = strstr(version, "PREEMPT_DYNAMIC") != NULL;
    env_put(e, "preemption_is_dynamic", json_boolean(is_dynamic));
    root_read(e->root, text, sizeof(text), "/sys/kernel/debug/sched/preempt");
    const char *running = env_bracketed(text, '(', ')');
    if (strstr(version, "PREEMPT_RT")) {
        put_preemption_mode(e, "rt", "version string");
    } else if (running && is_preemption_mode(running)) {
        put_preemption_mode(e, running, "/sys/kernel/debug/sched/preempt");
    } else if (is_dynamic && env_boot_option(e, "preempt", text, sizeof(text)) &&
               is_preemption_mode(text)) {
        put_preemption_mode(e, text, "boot option; it may have been changed since");
    } else if (configured_preemption(e)) {
        put_preemption_mode(e, configured_preemption(e),
                            is_dynamic ? "configuration; it may have been changed since boot"
                                       : "configuration");
    } else if (!is_dynamic && strstr(version, " PREEMPT ")) {
        put_preemption_mode(e, "full", "version string");
    } else {
        const char *why = "no configuration, and /sys/kernel/debug/sched/preempt is not readable";
        env_put_missing(e, "preemption", "%s", why);
        env_put_missing(e, "preemption_source", "%s", why);
    }
}

/* {"spectre_v2": "Mitigation: ...", ...} without those that do not concern this CPU. */
static json_t *mitigations_from(const struct env *e, DIR *folder)
{
    json_t *all = json_object();
    struct dirent *entry;
    while (all && (entry = readdir(folder)) != NULL) {
        char text[512];
        if (entry->d_name[0] == '.' ||
            root_read(e->root, text, sizeof(text), "/sys/devices/system/cpu/vulnerabilities/%s",
                      entry->d_name) <= 0 ||
            strcmp(text, "Not affected") == 0)
            continue;
        if (json_object_set_new(all, entry->d_name, text_to_json(text)) != 0) {
            json_decref(all);
            all = NULL;
        }
    }
    return all;
}

static void put_mitigations(struct env *e)
{
    static const char where[] = "/sys/devices/system/cpu/vulnerabilities";
    char path[PATH_MAX];
    char option[64];
    snprintf(path, sizeof(path), "%s%s", e->root, where);
    DIR *folder = opendir(path);
    if (folder) {
        env_put(e, "mitigations", mitigations_from(e, folder));
        closedir(folder);
    } else {
        env_put_missing(e, "mitigations", "%s: %s", where, strerror(errno));
    }
    bool is_off =
        env_boot_option(e, "mitigations", option, sizeof(option)) && strcmp(option, "off") == 0;
    env_put(e, "mitigations_off_at_boot", json_boolean(is_off));
}

void env_kernel(struct env *e)
{
    struct utsname machine = {0};
    char release[128];
    char version[256];
    uname(&machine); /* cannot fail: its only error is a bad pointer */
    if (root_read(e->root, release, sizeof(release), "/proc/sys/kernel/osrelease") <= 0)
        snprintf(release, sizeof(release), "%s", machine.release);
    if (root_read(e->root, version, sizeof(version), "/proc/sys/kernel/version") <= 0)
        snprintf(version, sizeof(version), "%s", machine.version);
    env_begin(e, "kernel");
    env_put_text(e, "release", release);
    env_put_text(e, "version", version);
    env_put_text(e, "architecture", machine.machine);
    env_config(e, release);
    put_preemption(e, version);
    env_put_file(e, "clock_source", ENV_TEXT,
                 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    put_mitigations(e);
}
