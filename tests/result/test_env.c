/*
 * The environment block from made-up machines: what is told of processors, limits and containers,
 * that what is missing has a reason, that nothing private gets in, and that running out of memory
 * anywhere is survived. The kernel's own facts are in test_env_kernel.c.
 */
#include "result/env.h"
#include "result/record.h"
#include "tests/result/facts.h"
#include "tests/result/test.h"
#include "tests/result/tree.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void vulnerabilities_that_do_not_concern_the_cpu_are_left_out(void **state)
{
    tree_put(*state, "/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    tree_put(*state, "/sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n");
    tree_put(*state, "/proc/cmdline", "mitigations=off\n");
    json_t *env = facts_collect(*state);
    const json_t *kernel = json_object_get(env, "kernel");
    const json_t *told = json_object_get(kernel, "mitigations");
    assert_int_equal(json_object_size(told), 1);
    assert_string_equal(json_string_value(json_object_get(told, "meltdown")), "Mitigation: PTI");
    assert_true(json_is_true(json_object_get(kernel, "mitigations_off_at_boot")));
    json_decref(env);
}

static void x86_model_is_its_name(void **state)
{
    tree_put(*state, "/proc/cpuinfo",
             "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Fast CPU @ 3.00GHz\n"
             "cpu MHz\t\t: 3000\ncpu cores\t: 2\n\n"
             "processor\t: 1\nmodel name\t: Fast CPU @ 3.00GHz\n");
    assert_fact(*state, "cpu", "model", "Fast CPU @ 3.00GHz");
}

static void arm_models_are_named_from_their_numbers(void **state)
{
    tree_put(*state, "/proc/cpuinfo",
             "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\n"
             "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n"
             "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\n"
             "processor\t: 3\nCPU implementer\t: 0x99\nCPU part\t: 0x123\n");
    assert_fact(*state, "cpu", "model", "Cortex-A76, Cortex-A55, implementer 0x99 part 0x123");
}

static void bytes_that_are_not_utf8_do_not_cost_the_block(void **state)
{
    tree_put(*state, "/proc/cpuinfo",
             "model name\t: bad \xff\xc0\xaf caf\xc3\xa9 \xed\xa0\x80 \xe2\x82\n");
    assert_fact(*state, "cpu", "model",
                "bad \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd caf\xc3\xa9 "
                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd");
}

static void put_topology(const char *tree, unsigned cpu, const char *core_file, const char *core,
                         const char *package_file, const char *package)
{
    char path[128];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, core_file);
    tree_put(tree, path, core);
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, package_file);
    tree_put(tree, path, package);
}

static void topology_counts_packages_cores_and_threads(void **state)
{
    /* Two packages of two cores of two threads, as most firmware numbers them; CPU 7 is offline. */
    static const char *const cores[] = {"0,4", "1,5", "2,6", "3"};
    static const char *const packages[] = {"0-1,4-5", "0-1,4-5", "2-3,6", "2-3,6"};
    tree_put(*state, "/sys/devices/system/cpu/online", "0-6\n");
    tree_put(*state, "/sys/devices/system/node/online", "0-1\n");
    for (unsigned cpu = 0; cpu < 7; cpu++) {
        bool is_new = cpu % 2 == 0; /* names of before 5.3 on the others */
        put_topology(*state, cpu, is_new ? "core_cpus_list" : "thread_siblings_list",
                     cores[cpu % 4], is_new ? "package_cpus_list" : "core_siblings_list",
                     packages[cpu % 4]);
    }
    json_t *env = facts_collect(*state);
    assert_int_equal(facts_integer(env, "cpu", "packages"), 2);
    assert_int_equal(facts_integer(env, "cpu", "cores"), 4);
    assert_int_equal(facts_integer(env, "cpu", "threads_per_core"), 2);
    assert_int_equal(facts_integer(env, "cpu", "online"), 7);
    assert_int_equal(facts_integer(env, "cpu", "numa_nodes"), 2);
    json_decref(env);
}

static void topology_that_a_cpu_does_not_tell_is_null(void **state)
{
    tree_put(*state, "/sys/devices/system/cpu/online", "0-1\n");
    put_topology(*state, 0, "core_cpus_list", "0", "package_cpus_list", "0-1");
    json_t *env = facts_collect(*state);
    facts_reason(env, "cpu", "packages");
    facts_reason(env, "cpu", "cores");
    facts_reason(env, "cpu", "threads_per_core");
    json_decref(env);
}

static void governors_that_differ_are_all_named(void **state)
{
    tree_put(*state, "/sys/devices/system/cpu/online", "0-2\n");
    tree_put(*state, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    tree_put(*state, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
    tree_put(*state, "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
    tree_put(*state, "/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    json_t *env = facts_collect(*state);
    assert_string_equal(facts_text(env, "cpu", "governor"), "powersave, performance");
    assert_true(json_is_true(json_object_get(json_object_get(env, "cpu"), "turbo")));
    assert_non_null(strstr(facts_reason(env, "cpu", "frequency_driver"), "scaling_driver"));
    json_decref(env);
}

static void memory_and_its_settings_are_read(void **state)
{
    tree_put(*state, "/proc/meminfo", "MemTotal:  1024 kB\nMemAvailable:   512 kB\n");
    tree_put(*state, "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    tree_put(*state, "/sys/kernel/mm/transparent_hugepage/defrag", "no choice here\n");
    tree_put(*state, "/proc/sys/vm/overcommit_memory", "2\n");
    tree_put(*state, "/proc/sys/vm/max_map_count", "many\n");
    json_t *env = facts_collect(*state);
    assert_int_equal(facts_integer(env, "memory", "total_bytes"), 1048576);
    assert_int_equal(facts_integer(env, "memory", "available_bytes"), 524288);
    assert_int_equal(facts_integer(env, "memory", "overcommit"), 2);
    assert_string_equal(facts_text(env, "memory", "thp"), "madvise");
    assert_non_null(strstr(facts_reason(env, "memory", "thp_defrag"), "no choice"));
    assert_non_null(strstr(facts_reason(env, "memory", "max_map_count"), "Invalid argument"));
    assert_non_null(strstr(facts_reason(env, "memory", "swap_bytes"), "SwapTotal"));
    json_decref(env);
}

static void control_group_limits_are_told_from_none_and_from_unknown(void **state)
{
    tree_put(*state, "/proc/self/mountinfo",
             "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    tree_put(*state, "/proc/self/cgroup", "0::/a/b\n");
    tree_put(*state, "/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    tree_put(*state, "/sys/fs/cgroup/a/b/memory.max", "4096\n");
    tree_put(*state, "/sys/fs/cgroup/a/b/pids.max", "max\n");
    json_t *env = facts_collect(*state);
    const json_t *limits = json_object_get(env, "limits");
    assert_float_equal(json_real_value(json_object_get(limits, "cgroup_cpus")), 0.5, 1e-9);
    assert_int_equal(facts_integer(env, "limits", "cgroup_memory_bytes"), 4096);
    assert_string_equal(facts_text(env, "limits", "cgroup_pids"), "unlimited");
    assert_string_equal(facts_text(env, "limits", "cgroup_version"), "v2");
    assert_int_equal(facts_integer(env, "cpu", "usable"), 1);
    json_decref(env);
    tree_put(*state, "/proc/self/mountinfo", "");
    env = facts_collect(*state);
    facts_reason(env, "limits", "cgroup_cpus");
    facts_reason(env, "limits", "cgroup_memory_bytes");
    assert_string_equal(facts_text(env, "limits", "cgroup_version"), "none");
    json_decref(env);
}

static void steal_is_a_share_of_all_time(void **state)
{
    tree_put(*state, "/proc/stat", "cpu  100 0 50 200 50 0 0 100 60 0\ncpu0 1 1 1 1\n");
    tree_put(*state, "/proc/loadavg", "0.50 1.25 2.00 3/456 7890\n");
    json_t *env = facts_collect(*state);
    const json_t *load = json_object_get(env, "load");
    assert_float_equal(json_real_value(json_object_get(load, "steal_share_since_boot")), 0.2, 1e-9);
    assert_float_equal(json_real_value(json_object_get(load, "average_5min")), 1.25, 1e-9);
    assert_int_equal(facts_integer(env, "load", "runnable"), 3);
    assert_int_equal(facts_integer(env, "load", "threads"), 456);
    json_decref(env);
}

static void hypervisors_are_known_by_flag_firmware_or_own_file(void **state)
{
    assert_fact(*state, "machine", "hypervisor", "none seen");
    tree_put(*state, "/proc/cpuinfo", "flags\t\t: fpu tsc hypervisor lahf_lm\n");
    assert_fact(*state, "machine", "hypervisor", "unknown");
    tree_put(*state, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
    assert_fact(*state, "machine", "hypervisor", "qemu");
    tree_put(*state, "/sys/class/dmi/id/product_name", "VMware Virtual Platform\n");
    assert_fact(*state, "machine", "hypervisor", "vmware");
    assert_fact(*state, "machine", "product", "VMware Virtual Platform");
    tree_put(*state, "/sys/hypervisor/type", "xen\n");
    assert_fact(*state, "machine", "hypervisor", "xen");
}

static void bare_metal_in_a_cloud_is_no_virtual_machine(void **state)
{
    tree_put(*state, "/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    tree_put(*state, "/sys/class/dmi/id/product_name", "m5.metal\n");
    assert_fact(*state, "machine", "hypervisor", "none seen");
    tree_put(*state, "/sys/class/dmi/id/product_name", "m5.large\n");
    assert_fact(*state, "machine", "hypervisor", "amazon");
}

static void containers_are_known_by_their_marks(void **state)
{
    assert_fact(*state, "machine", "container", "none seen");
    tree_put(*state, "/proc/self/cgroup", "4:cpu:/docker/0123\n");
    assert_fact(*state, "machine", "container", "docker");
    tree_put(*state, "/proc/self/cgroup", "0::/kubepods/burstable/pod1/0123\n");
    assert_fact(*state, "machine", "container", "kubernetes");
    tree_put(*state, "/run/.containerenv", "");
    assert_fact(*state, "machine", "container", "podman");
    tree_put(*state, "/run/systemd/container", "systemd-nspawn\n");
    assert_fact(*state, "machine", "container", "systemd-nspawn");
}

static unsigned count_nulls(const json_t *env)
{
    unsigned nulls = 0;
    const char *group_name, *key;
    json_t *group, *value;
    json_object_foreach((json_t *)env, group_name, group)
    {
        json_object_foreach(group, key, value)
        {
            if (!json_is_null(value))
                continue;
            facts_reason(env, group_name, key);
            nulls++;
        }
    }
    return nulls;
}

static void whatever_is_null_has_a_reason_and_nothing_else_has(void **state)
{
    char *empty = tree_make();
    json_t *env = facts_collect(empty);
    unsigned nulls = count_nulls(env);
    assert_true(nulls > 25);
    assert_int_equal(json_object_size(json_object_get(env, "missing")), nulls);
    json_decref(env);
    tree_remove(empty);
    env = env_collect();
    assert_non_null(env);
    assert_int_equal(json_object_size(json_object_get(env, "missing")), count_nulls(env));
    json_decref(env);
}

static void nothing_that_names_host_user_or_address_gets_in(void **state)
{
    static const char *const secrets[] = {"xhost", "alice", "192.0.2", "SN12345"};
    tree_put(*state, "/proc/sys/kernel/hostname", "xhost\n");
    tree_put(*state, "/etc/hostname", "xhost\n");
    tree_put(*state, "/proc/version", "Linux version 9.8.7 (alice@xhost) (gcc) #1 SMP\n");
    tree_put(*state, "/proc/cmdline", "root=/dev/nfs ip=192.0.2.7::::xhost preempt=full\n");
    tree_put(*state, "/proc/self/mountinfo",
             "30 23 0:26 / /export/alice/cgroup rw - cgroup2 cgroup2 rw\n");
    tree_put(*state, "/proc/self/cgroup", "0::/alice.slice/docker-1.scope\n");
    tree_put(*state, "/export/alice/cgroup/alice.slice/docker-1.scope/memory.max", "1000\n");
    tree_put(*state, "/sys/class/dmi/id/product_serial", "SN12345\n");
    tree_put(*state, "/boot/config-9.8.7-test",
             "CONFIG_SMP=y\nCONFIG_DEFAULT_HOSTNAME=\"xhost\"\nCONFIG_CMDLINE=\"ip=192.0.2.7\"\n");
    json_t *env = facts_collect(*state);
    assert_int_equal(facts_integer(env, "limits", "cgroup_memory_bytes"), 1000);
    char *text = json_dumps(env, 0);
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (strstr(text, secrets[i]))
            fail_msg("%s is told", secrets[i]);
    }
    free(text);
    json_decref(env);
}

/* Allocations that are still granted to jansson. */
static unsigned long granted;

static void *limited_malloc(size_t size)
{
    if (granted == 0)
        return NULL;
    granted--;
    return malloc(size);
}

static void running_out_of_memory_anywhere_gives_nothing_and_leaks_nothing(void **state)
{
    unsigned long tried = 0;
    json_t *env = NULL;
    tree_put(*state, "/boot/config-9.8.7-test", "CONFIG_SMP=y\nCONFIG_HZ=100\n");
    tree_put(*state, "/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    tree_put(*state, "/proc/cpuinfo", "model name\t: Fast CPU\n");
    json_set_alloc_funcs(limited_malloc, free);
    /* Each of the first hundred, then ever larger steps; leaks are for the sanitizer to find. */
    for (unsigned long limit = 0; !env; limit += 1 + (limit > 100 ? limit / 50 : 0), tried++) {
        granted = limit;
        env = env_collect_from(*state);
        assert_true(tried < 100000);
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(tried > 100);
    assert_string_equal(facts_switch(env, "CONFIG_HZ"), "100");
    json_decref(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FACTS(vulnerabilities_that_do_not_concern_the_cpu_are_left_out),
        WITH_FACTS(x86_model_is_its_name),
        WITH_FACTS(arm_models_are_named_from_their_numbers),
        WITH_FACTS(bytes_that_are_not_utf8_do_not_cost_the_block),
        WITH_FACTS(topology_counts_packages_cores_and_threads),
        WITH_FACTS(topology_that_a_cpu_does_not_tell_is_null),
        WITH_FACTS(governors_that_differ_are_all_named),
        WITH_FACTS(memory_and_its_settings_are_read),
        WITH_FACTS(control_group_limits_are_told_from_none_and_from_unknown),
        WITH_FACTS(steal_is_a_share_of_all_time),
        WITH_FACTS(hypervisors_are_known_by_flag_firmware_or_own_file),
        WITH_FACTS(bare_metal_in_a_cloud_is_no_virtual_machine),
        WITH_FACTS(containers_are_known_by_their_marks),
        WITH_FACTS(whatever_is_null_has_a_reason_and_nothing_else_has),
        WITH_FACTS(nothing_that_names_host_user_or_address_gets_in),
        WITH_FACTS(running_out_of_memory_anywhere_gives_nothing_and_leaks_nothing),
    };
    return cmocka_run_group_tests_name("result/env", tests, NULL, NULL);
}
