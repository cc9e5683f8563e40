/*
 * The switches a kernel was built with, as far as they bear on locks and on mmap: one table with
 * the reason for each, and the places where a kernel's configuration may be found.
 */
#include "result/config_stream.h"
#include "result/env.h"
#include "result/text.h"

struct config_switch {
    const char *name; /* without "CONFIG_" */
    const char *why;
};

static const struct config_switch switches[] = {
    /* mmap_lock and the kernel's own locks */
    {"RWSEM_SPIN_ON_OWNER", "who waits for mmap_lock spins while its owner runs"},
    {"MUTEX_SPIN_ON_OWNER", "who waits for a mutex of the kernel spins while its owner runs"},
    {"PER_VMA_LOCK", "page faults take a lock of their mapping instead of mmap_lock"},
    {"QUEUED_SPINLOCKS", "spinlocks queue fairly instead of all spinning on one word"},
    {"QUEUED_RWLOCKS", "the kernel's spinning reader-writer locks queue fairly"},
    {"PARAVIRT_SPINLOCKS", "in a virtual machine, spinning waits give their CPU back to the host"},
    {"LOCKDEP", "every lock operation of the kernel is checked: much slower"},
    {"PROVE_LOCKING", "lock order is checked at run time: much slower"},
    {"LOCK_STAT", "every lock operation of the kernel is timed: slower"},
    {"DEBUG_RWSEMS", "rwsem operations are checked: slower"},
    {"DEBUG_LOCK_ALLOC", "frees of held locks are looked for: slower"},
    {"DEBUG_MUTEXES", "mutex operations are checked: slower"},
    {"DEBUG_SPINLOCK", "spinlock operations are checked: slower"},
    {"DEBUG_ATOMIC_SLEEP", "every call that may sleep checks whether it may: slower"},
    {"LOCK_EVENT_COUNTS", "the kernel counts lock events: slightly slower"},
    /* who runs when */
    {"PREEMPT_NONE", "a thread in the kernel keeps its CPU until it gives it up"},
    {"PREEMPT_VOLUNTARY", "a thread in the kernel may lose its CPU at marked places"},
    {"PREEMPT", "a thread in the kernel may lose its CPU almost anywhere"},
    {"PREEMPT_LAZY", "as PREEMPT, but ordinary threads wait for the tick"},
    {"PREEMPT_RT", "kernel locks sleep and inherit priority; its rwsem is another one"},
    {"PREEMPT_DYNAMIC", "the choice among those is made at boot or later"},
    {"HZ", "ticks a second: how long a runnable thread may wait for one that computes"},
    {"NO_HZ_FULL", "CPUs set aside at boot run without a tick; system calls cost more there"},
    {"HIGH_RES_TIMERS", "timed waits end within microseconds, not at the next tick"},
    {"SCHED_CORE", "hyperthreads may be kept apart by trust, which idles some"},
    {"SCHED_AUTOGROUP", "terminal sessions share the CPU as groups"},
    {"CFS_BANDWIDTH", "control groups may have a CPU quota, which stops all their threads at once"},
    {"SCHED_CLASS_EXT", "the scheduler may be a loaded BPF program"},
    {"SMP", "more than one CPU can be used at all"},
    {"NR_CPUS", "the most CPUs this kernel can use"},
    /* memory */
    {"TRANSPARENT_HUGEPAGE", "a first touch may zero 2 MiB instead of 4 KiB"},
    {"TRANSPARENT_HUGEPAGE_ALWAYS", "huge pages are the default, without madvise"},
    {"TRANSPARENT_HUGEPAGE_MADVISE", "huge pages only where madvise asks for them"},
    {"TRANSPARENT_HUGEPAGE_NEVER", "huge pages are off by default"},
    {"INIT_ON_ALLOC_DEFAULT_ON", "pages are zeroed whenever they are allocated"},
    {"INIT_ON_FREE_DEFAULT_ON", "pages are zeroed again when freed: munmap is dearer"},
    {"NUMA", "memory may be on another node than the CPU"},
    {"NUMA_BALANCING", "pages are made to fault now and then to see which node uses them"},
    {"MEMCG", "each page touched is charged to a control group"},
    {"MMU_GATHER_RCU_TABLE_FREE", "page tables are freed after a grace period"},
    {"ARCH_WANT_BATCHED_UNMAP_TLB_FLUSH", "TLB flushes of reclaimed pages are sent in batches"},
    {"LRU_GEN", "reclaim walks page tables, under mmap_lock"},
    {"KSM", "identical pages may be merged, under mmap_lock"},
    {"USERFAULTFD", "a process may serve page faults, under mmap_lock"},
    {"MEM_SOFT_DIRTY", "writes may be tracked by page"},
    {"PAGE_TABLE_CHECK", "each change of a page table is checked: slower"},
    {"DEBUG_VM", "memory management checks itself: slower"},
    {"DEBUG_PAGEALLOC", "freed pages are unmapped from the kernel: slower"},
    {"KASAN", "every memory access of the kernel is checked: several times slower"},
    {"KCSAN", "data races of the kernel are looked for: several times slower"},
    {"KFENCE", "a few allocations of the kernel are guarded"},
    {"UBSAN", "undefined behaviour of the kernel is looked for: slower"},
    {"SLUB_DEBUG_ON", "allocations of the kernel are checked by default: slower"},
    /* the price of a system call */
    {"MITIGATION_PAGE_TABLE_ISOLATION", "page tables are switched at every system call"},
    {"PAGE_TABLE_ISOLATION", "older name of MITIGATION_PAGE_TABLE_ISOLATION"},
    {"MITIGATION_RETPOLINE", "indirect calls of the kernel are made slower on purpose"},
    {"RETPOLINE", "older name of MITIGATION_RETPOLINE"},
    {"SECCOMP_FILTER", "system calls may be filtered, as containers do"},
    {"RANDOMIZE_KSTACK_OFFSET_DEFAULT", "a random number is drawn at every system call"},
    {"CONTEXT_TRACKING_USER_FORCE", "every system call is accounted as on tickless CPUs"},
    {"VIRT_CPU_ACCOUNTING_GEN", "CPU time is exact instead of sampled by the tick"},
    /* what user-space locks build on */
    {"FUTEX", "threads can sleep on a word at all"},
    {"FUTEX_PI", "futexes that inherit priority"},
    {"FUTEX_PRIVATE_HASH", "private futexes hash in their process, not with everyone else's"},
    {"RSEQ", "restartable sequences: counting on one's own CPU without atomics"},
    {"RSEQ_SLICE_EXTENSION", "a lock holder may ask for a little more time"},
    {"DEBUG_RSEQ", "restartable sequences are checked: slower"},
    {"MEMBARRIER", "one thread can force memory order on all CPUs"},
    /* what tracing builds on */
    {"BPF_SYSCALL", "eBPF programs can be loaded at all"},
    {"BPF_JIT", "eBPF programs run as machine code"},
    {"DEBUG_INFO_BTF", "the kernel tells its types, which portable eBPF programs need"},
    {"TRACEPOINTS", "the events that lock tracing reads"},
    {"FTRACE", "function tracing; its entry stubs may cost a little"},
    /* virtual machines */
    {"KVM_GUEST", "knows how to be a guest of KVM"},
    {"HYPERV", "knows how to be a guest of Hyper-V"},
    {"XEN", "knows how to be a guest of Xen"},
    {"PARAVIRT_TIME_ACCOUNTING", "time stolen by the host is told apart"},
};

enum { SWITCHES = sizeof(switches) / sizeof(switches[0]) };

static const char *const places[] = {
    "/proc/config.gz",
    "/boot/config-%s",
    "/lib/modules/%s/config",
    "/usr/lib/modules/%s/config",
    "/lib/modules/%s/build/.config",
    "/usr/src/linux-headers-%s/.config",
};

/* What was found, one entry a switch: NULL where the configuration does not mention it. */
struct found {
    json_t *value[SWITCHES];
    unsigned lines; /* of any switch; 0: this is no configuration */
    bool is_out_of_memory;
};

static void forget(struct found *found)
{
    for (size_t i = 0; i < SWITCHES; i++)
        json_decref(found->value[i]);
    *found = (struct found){0};
}

static void note(struct found *found, const char *name, const char *value)
{
    found->lines++;
    for (size_t i = 0; i < SWITCHES; i++) {
        if (strcmp(switches[i].name, name) != 0)
            continue;
        json_decref(found->value[i]);
        found->value[i] = text_to_json(value);
        found->is_out_of_memory |= !found->value[i];
        return;
    }
}

/* "CONFIG_HZ=250" or "# CONFIG_HZ is not set". */
static void parse_line(struct found *found, char *line)
{
    static const char set[] = "CONFIG_";
    static const char unset[] = "# CONFIG_";
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, unset, strlen(unset)) == 0) {
        char *end = strstr(line, " is not set");
        if (!end)
            return;
        *end = '\0';
        note(found, line + strlen(unset), "n");
    } else if (strncmp(line, set, strlen(set)) == 0) {
        char *value = strchr(line, '=');
        if (!value)
            return;
        *value++ = '\0';
        size_t length = strlen(value);
        if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
            value[length - 1] = '\0';
            value++;
        }
        note(found, line + strlen(set), value);
    }
}

/* 0 or a negative errno; `found` is whole or forgotten. */
static int read_config(const char *path, struct found *found)
{
    config_stream stream = config_stream_open(path);
    if (!stream)
        return -errno;
    char line[1024];
    bool is_line_start = true;
    while (config_stream_line(stream, line, sizeof(line))) {
        bool has_end = strchr(line, '\n') != NULL;
        if (is_line_start)
            parse_line(found, line);
        is_line_start = has_end;
    }
    int error = config_stream_close(stream);
    if (!error && found->lines == 0)
        error = -ENOMSG;
    if (error)
        forget(found);
    return error;
}

static const char *why_not(int error)
{
    switch (-error) {
    case ENOMSG:
        return "holds no kernel configuration";
    case ENOTSUP:
        return "not readable by this build (made without zlib)";
    case EIO:
        return "damaged";
    default:
        return strerror(-error);
    }
}

/* Tries the places in order; fills `source` on success, else `reason` with each place's. */
static bool find_config(const struct env *e, const char *release, struct found *found, char *source,
                        size_t source_size, char *reason, size_t reason_size)
{
    size_t used = 0;
    reason[0] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char path[PATH_MAX];
        snprintf(source, source_size, places[i], release);
        int length = snprintf(path, sizeof(path), "%s%s", e->root, source);
        bool fits = length > 0 && (size_t)length < sizeof(path);
        int error = fits ? read_config(path, found) : -ENAMETOOLONG;
        if (error == 0)
            return true;
        int added = snprintf(reason + used, reason_size - used, "%s%s: %s", used ? "; " : "",
                             source, why_not(error));
        if (added > 0 && (size_t)added < reason_size - used)
            used += (size_t)added;
    }
    return false;
}

/* {"CONFIG_HZ": {"value": "250", "why": ...}, ...}; empties `found`. */
static json_t *switches_to_json(struct found *found)
{
    json_t *all = json_object();
    bool is_whole = all && !found->is_out_of_memory;
    for (size_t i = 0; is_whole && i < SWITCHES; i++) {
        char name[64];
        snprintf(name, sizeof(name), "CONFIG_%s", switches[i].name);
        json_t *value = found->value[i] ? json_incref(found->value[i]) : json_string("absent");
        json_t *entry = json_pack("{s:o, s:s}", "value", value, "why", switches[i].why);
        is_whole = json_object_set_new(all, name, entry) == 0;
    }
    forget(found);
    if (is_whole)
        return all;
    json_decref(all);
    return NULL;
}

void env_config(struct env *e, const char *release)
{
    struct found found = {0};
    char source[PATH_MAX];
    char reason[400];
    if (find_config(e, release, &found, source, sizeof(source), reason, sizeof(reason))) {
        env_put_text(e, "config_source", source);
        env_put(e, "config", switches_to_json(&found));
    } else {
        env_put_missing(e, "config_source", "%s", reason);
        env_put_missing(e, "config", "no configuration of this kernel was found");
    }
}

const char *env_config_value(const struct env *e, const char *name)
{
    char key[64];
    snprintf(key, sizeof(key), "CONFIG_%s", name);
    const json_t *kernel = json_object_get(e->all, "kernel");
    const json_t *entry = json_object_get(json_object_get(kernel, "config"), key);
    return json_string_value(json_object_get(entry, "value"));
}
