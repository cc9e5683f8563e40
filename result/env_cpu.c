/*
 * The processor: model, how many of its CPUs may be used, topology, frequency. Only CPUs online
 * are looked at; how they are laid out is told by counting, not by naming them.
 */
#include "result/cgroup.h"
#include "result/cpulist.h"
#include "result/cpus.h"
#include "result/env.h"
#include "result/midr.h"
#include "result/root.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A few different words, in the order met, as "a, b". */
struct words {
    char text[256];
};

static void add_word(struct words *words, const char *word)
{
    size_t used = strlen(words->text);
    size_t length = strlen(word);
    for (const char *at = words->text; (at = strstr(at, word)) != NULL; at++) {
        bool begins = at == words->text || at[-1] == ' ';
        if (begins && (at[length] == ',' || at[length] == '\0'))
            return;
    }
    if (used + length + 3 < sizeof(words->text))
        snprintf(words->text + used, sizeof(words->text) - used, "%s%s", used ? ", " : "", word);
}

/* The value of "key : value", or NULL if the line has another key. */
static char *value_of(char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    char *at = line + length;
    at += strspn(at, " \t");
    if (*at != ':')
        return NULL;
    at++;
    return at + strspn(at, " \t");
}

/*
 * Each kind of processor in /proc/cpuinfo once. x86, s390 and others have a name there; Arm has the
 * numbers of its identification register, implementer first.
 */
static void read_models(FILE *file, struct words *models)
{
    static const char *const names[] = {"model name", "cpu model", "cpu", "uarch"};
    char *line = NULL;
    size_t size = 0;
    unsigned implementer = 0;
    while (getline(&line, &size, file) > 0) {
        char *value;
        char name[64];
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if ((value = value_of(line, names[i])) != NULL && *value)
                add_word(models, value);
        }
        if ((value = value_of(line, "CPU implementer")) != NULL)
            implementer = (unsigned)strtoul(value, NULL, 0);
        if ((value = value_of(line, "CPU part")) != NULL) {
            midr_name(implementer, (unsigned)strtoul(value, NULL, 0), name, sizeof(name));
            add_word(models, name);
        }
    }
    free(line);
}

static void put_model(struct env *e)
{
    struct words models = {""};
    FILE *file = root_open(e->root, "/proc/cpuinfo");
    if (!file) {
        env_put_missing(e, "model", "/proc/cpuinfo: %m");
        return;
    }
    read_models(file, &models);
    fclose(file);
    if (models.text[0])
        env_put_text(e, "model", models.text);
    else
        env_put_missing(e, "model", "/proc/cpuinfo names no processor");
}

static void put_counts(struct env *e)
{
    struct cpus *cpus = malloc(sizeof(*cpus));
    if (!cpus) {
        e->is_out_of_memory = true;
        return;
    }
    cpus_read_from(e->root, cpus);
    env_put(e, "online", json_integer(cpus->online));
    env_put(e, "allowed", json_integer(cpus->allowed));
    env_put(e, "usable", json_integer(cpus->usable));
    free(cpus);
}

struct layout {
    unsigned packages;
    unsigned cores;
    unsigned threads; /* of the core that has most */
};

/* The CPUs that share a core or a package with `cpu`, under the new or the old name of the file. */
static unsigned siblings(const struct env *e, unsigned cpu, const char *file, const char *old_file,
                         bool *is_first)
{
    static const char format[] = "/sys/devices/system/cpu/cpu%u/topology/%s";
    char text[4096];
    unsigned first, last;
    if (root_read(e->root, text, sizeof(text), format, cpu, file) <= 0 &&
        root_read(e->root, text, sizeof(text), format, cpu, old_file) <= 0)
        return 0;
    const char *list = text;
    *is_first = cpulist_next(&list, &first, &last) && first == cpu;
    return cpulist_count(text);
}

/* Counts each core and package at its first CPU. False if a CPU does not tell. */
static bool read_layout(const struct env *e, const char *online, struct layout *out)
{
    unsigned first, last;
    while (cpulist_next(&online, &first, &last)) {
        for (unsigned cpu = first; cpu <= last; cpu++) {
            bool leads_core = false, leads_package = false;
            unsigned threads =
                siblings(e, cpu, "core_cpus_list", "thread_siblings_list", &leads_core);
            if (threads == 0 ||
                siblings(e, cpu, "package_cpus_list", "core_siblings_list", &leads_package) == 0)
                return false;
            out->cores += leads_core;
            out->packages += leads_package;
            out->threads = threads > out->threads ? threads : out->threads;
        }
    }
    return out->cores > 0 && out->packages > 0;
}

static void put_layout(struct env *e, const char *online)
{
    struct layout layout = {0};
    if (read_layout(e, online, &layout)) {
        env_put(e, "packages", json_integer(layout.packages));
        env_put(e, "cores", json_integer(layout.cores));
        env_put(e, "threads_per_core", json_integer(layout.threads));
        return;
    }
    static const char why[] = "/sys/devices/system/cpu/cpu*/topology does not tell";
    env_put_missing(e, "packages", why);
    env_put_missing(e, "cores", why);
    env_put_missing(e, "threads_per_core", why);
}

static void put_nodes(struct env *e)
{
    static const char path[] = "/sys/devices/system/node/online";
    char text[4096];
    int length = root_read(e->root, text, sizeof(text), path);
    if (length < 0)
        env_put_missing(e, "numa_nodes", "%s: %s", path, strerror(-length));
    else if (cpulist_count(text) == 0)
        env_put_missing(e, "numa_nodes", "%s holds no list", path);
    else
        env_put(e, "numa_nodes", json_integer(cpulist_count(text)));
}

/* One word for all CPUs online, or each that occurs. */
static void put_frequency_word(struct env *e, const char *key, const char *online, const char *file)
{
    struct words words = {""};
    unsigned first, last;
    while (cpulist_next(&online, &first, &last)) {
        for (unsigned cpu = first; cpu <= last; cpu++) {
            char text[64];
            if (root_read(e->root, text, sizeof(text), "/sys/devices/system/cpu/cpu%u/cpufreq/%s",
                          cpu, file) > 0)
                add_word(&words, text);
        }
    }
    if (words.text[0])
        env_put_text(e, key, words.text);
    else
        env_put_missing(e, key, "no CPU has cpufreq/%s: the kernel does not control the frequency",
                        file);
}

static void put_turbo(struct env *e)
{
    long long value;
    if (root_read_integer(e->root, &value, "/sys/devices/system/cpu/intel_pstate/no_turbo") == 0)
        env_put(e, "turbo", json_boolean(value == 0));
    else if (root_read_integer(e->root, &value, "/sys/devices/system/cpu/cpufreq/boost") == 0)
        env_put(e, "turbo", json_boolean(value != 0));
    else
        env_put_missing(e, "turbo", "neither intel_pstate/no_turbo nor cpufreq/boost is there");
}

void env_cpu(struct env *e)
{
    char online[4096];
    env_begin(e, "cpu");
    put_model(e);
    put_counts(e);
    root_read(e->root, online, sizeof(online), "/sys/devices/system/cpu/online");
    put_layout(e, online);
    put_nodes(e);
    put_frequency_word(e, "governor", online, "scaling_governor");
    put_frequency_word(e, "frequency_driver", online, "scaling_driver");
    put_turbo(e);
    env_put_file(e, "idle_driver", ENV_TEXT, "/sys/devices/system/cpu/cpuidle/current_driver");
}
