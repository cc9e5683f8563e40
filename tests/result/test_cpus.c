/*
 * CPUs that may be used: quotas of both control group versions from made-up trees, and the affinity
 * mask from a made-up kernel (sched_getaffinity() is wrapped by the linker).
 */
#include "result/cgroup.h"
#include "result/cpulist.h"
#include "result/cpus.h"
#include "tests/result/test.h"
#include "tests/result/tree.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* What the made-up kernel has; 0 CPUs: the real one is asked. */
static unsigned made_up_cpus;
static int made_up_error;

int __real_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);

/* Like the kernel: refuses masks that are smaller than its own; every third CPU is allowed. */
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (made_up_error) {
        errno = made_up_error;
        return -1;
    }
    if (made_up_cpus == 0)
        return __real_sched_getaffinity(pid, size, set);
    if (size * 8 < made_up_cpus) {
        errno = EINVAL;
        return -1;
    }
    for (unsigned cpu = 0; cpu < made_up_cpus; cpu += 3)
        CPU_SET_S(cpu, size, set);
    return 0;
}

static int make(void **state)
{
    made_up_cpus = 0;
    made_up_error = 0;
    *state = tree_make();
    return 0;
}

static int clear(void **state)
{
    tree_remove(*state);
    return 0;
}

#define V2_MOUNT(shown)                                                                            \
    "30 23 0:26 " shown " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define V1_MOUNT(shown, controllers)                                                               \
    "31 23 0:27 " shown " /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw," controllers "\n"

static void put_group(const char *tree, const char *mountinfo, const char *cgroup)
{
    tree_put(tree, "/proc/self/mountinfo", mountinfo);
    tree_put(tree, "/proc/self/cgroup", cgroup);
}

static void assert_quota(const char *tree, double expected)
{
    double quota = -1;
    assert_true(cgroup_cpu_quota(tree, &quota) >= 0);
    assert_float_equal(quota, expected, 1e-9);
}

static void v2_quota_of_the_own_group_counts(void **state)
{
    put_group(*state, V2_MOUNT("/"), "0::/jobs/bench\n");
    tree_put(*state, "/sys/fs/cgroup/jobs/bench/cpu.max", "150000 100000\n");
    assert_quota(*state, 1.5);
}

static void v2_tighter_ancestor_wins(void **state)
{
    put_group(*state, V2_MOUNT("/"), "0::/a/b/c\n");
    tree_put(*state, "/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
    tree_put(*state, "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    tree_put(*state, "/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    assert_quota(*state, 0.5);
}

static void v2_looser_ancestor_does_not(void **state)
{
    put_group(*state, V2_MOUNT("/"), "0::/a/b\n");
    tree_put(*state, "/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    tree_put(*state, "/sys/fs/cgroup/a/cpu.max", "800000 100000\n");
    assert_quota(*state, 2);
}

static void v2_sibling_does_not_count(void **state)
{
    put_group(*state, V2_MOUNT("/"), "0::/a/b\n");
    tree_put(*state, "/sys/fs/cgroup/a/other/cpu.max", "10000 100000\n");
    tree_put(*state, "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_quota(*state, 0);
}

static void v2_max_is_no_quota(void **state)
{
    put_group(*state, V2_MOUNT("/"), "0::/a\n");
    tree_put(*state, "/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_quota(*state, 0);
}

static void v1_quota_over_its_period(void **state)
{
    put_group(*state, V1_MOUNT("/", "cpu,cpuacct"), "7:cpuset:/x\n4:cpu,cpuacct:/a/b\n0::/\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "75000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "50000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "1000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "50000\n");
    assert_quota(*state, 1.5);
}

static void v1_tighter_ancestor_wins(void **state)
{
    put_group(*state, V1_MOUNT("/", "cpuacct,cpu"), "4:cpuacct,cpu:/a/b\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "300000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    assert_quota(*state, 1);
}

static void v1_minus_one_is_no_quota(void **state)
{
    put_group(*state, V1_MOUNT("/", "cpu"), "4:cpu:/a\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    assert_quota(*state, 0);
}

static void v1_cpuset_is_not_mistaken_for_cpu(void **state)
{
    put_group(*state, V1_MOUNT("/", "cpuset"), "4:cpuset:/a\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "10000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    assert_quota(*state, 0);
}

static void the_tighter_of_v1_and_v2_counts(void **state)
{
    put_group(*state, V2_MOUNT("/") V1_MOUNT("/", "cpu"), "4:cpu:/a\n0::/b\n");
    tree_put(*state, "/sys/fs/cgroup/b/cpu.max", "300000 100000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "200000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    assert_quota(*state, 2);
    assert_string_equal(cgroup_version(*state), "v1 and v2");
}

static void container_whose_mount_begins_at_its_own_group(void **state)
{
    put_group(*state, V1_MOUNT("/docker/abc", "cpu"), "4:cpu:/docker/abc\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_quota(*state, 2.5);
}

static void container_with_a_group_below_its_mount(void **state)
{
    put_group(*state, V2_MOUNT("/docker/abc"), "0::/docker/abc/inner\n");
    tree_put(*state, "/sys/fs/cgroup/inner/cpu.max", "max 100000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu.max", "120000 100000\n");
    tree_put(*state, "/sys/fs/cgroup/docker/abc/inner/cpu.max", "10000 100000\n");
    assert_quota(*state, 1.2);
}

static void mount_of_a_group_that_only_begins_alike_is_not_ours(void **state)
{
    put_group(*state, V2_MOUNT("/docker/abc"), "0::/docker/abcd\n");
    tree_put(*state, "/sys/fs/cgroup/cpu.max", "10000 100000\n");
    tree_put(*state, "/sys/fs/cgroupd/cpu.max", "10000 100000\n");
    assert_quota(*state, 0);
}

static void mount_from_outside_the_namespace_is_an_ancestor(void **state)
{
    put_group(*state, V2_MOUNT("/../.."), "0::/\n");
    tree_put(*state, "/sys/fs/cgroup/cpu.max", "30000 10000\n");
    assert_quota(*state, 3);
}

static void group_outside_the_namespace_is_not_looked_for_inside(void **state)
{
    put_group(*state, V2_MOUNT("/"), "0::/../elsewhere\n");
    tree_put(*state, "/sys/fs/cgroup/cpu.max", "10000 100000\n");
    tree_put(*state, "/sys/fs/elsewhere/cpu.max", "10000 100000\n");
    assert_quota(*state, 0);
    put_group(*state, V2_MOUNT("/.."), "0::/../../elsewhere\n");
    assert_quota(*state, 0);
}

static void mount_point_with_a_space_is_found(void **state)
{
    put_group(*state, "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n", "0::/a\n");
    tree_put(*state, "/my groups/a/cpu.max", "70000 100000\n");
    assert_quota(*state, 0.7);
}

static void garbage_is_no_quota(void **state)
{
    static const char *const garbage[] = {
        "",        "\n",         "banana\n",  "100000\n",         "max\n",        "0 100000\n",
        "-5 1000", "100000 0\n", "100000 -1", "50000 100000 x\n", "5e4 100000\n", "a b\n",
    };
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        put_group(*state, V2_MOUNT("/"), "0::/a\n");
        tree_put(*state, "/sys/fs/cgroup/a/cpu.max", garbage[i]);
        assert_quota(*state, 0);
    }
}

static void damaged_tables_are_survived(void **state)
{
    static const char *const tables[] = {
        "",
        "\n",
        " - cgroup2 cgroup2 rw\n",
        "30 23 - cgroup2 cgroup2 rw\n",
        "30 23 0:26 / - cgroup2 cgroup2 rw\n",
        "30 23 0:26 / /x rw - cgroup2\n",
        "30 23 0:26 / /x rw - \n",
        "30 23 0:26 / /x rw cgroup2 rw\n",
    };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        put_group(*state, tables[i], "0::/a\n");
        assert_quota(*state, 0);
        put_group(*state, V2_MOUNT("/"), tables[i]);
        assert_quota(*state, 0);
    }
}

static void without_proc_there_is_an_error_and_no_quota(void **state)
{
    double quota = 7;
    struct cpus cpus;
    assert_int_equal(cgroup_cpu_quota(*state, &quota), -ENOENT);
    assert_float_equal(quota, 7, 0);
    cpus_read_from(*state, &cpus);
    assert_float_equal(cpus.quota, 0, 0);
    assert_int_equal(cpus.usable, cpus.allowed);
    assert_null(cgroup_version(*state));
}

static void usable_is_the_quota_rounded_up_within_the_mask(void **state)
{
    assert_int_equal(cpus_usable(8, 0), 8);
    assert_int_equal(cpus_usable(8, 0.5), 1);
    assert_int_equal(cpus_usable(8, 0.001), 1);
    assert_int_equal(cpus_usable(8, 1), 1);
    assert_int_equal(cpus_usable(8, 1.01), 2);
    assert_int_equal(cpus_usable(8, 7.5), 8);
    assert_int_equal(cpus_usable(8, 16), 8);
    assert_int_equal(cpus_usable(8, 1e300), 8);
    assert_int_equal(cpus_usable(0, 0), 1);
}

static void quota_limits_what_is_usable(void **state)
{
    struct cpus cpus;
    made_up_cpus = 12; /* four of them allowed */
    put_group(*state, V2_MOUNT("/"), "0::/a\n");
    tree_put(*state, "/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    tree_put(*state, "/sys/devices/system/cpu/online", "0-9,11\n");
    cpus_read_from(*state, &cpus);
    assert_int_equal(cpus.allowed, 4);
    assert_int_equal(cpus.online, 11);
    assert_int_equal(cpus.usable, 2);
    tree_put(*state, "/sys/fs/cgroup/a/cpu.max", "9900000 100000\n");
    cpus_read_from(*state, &cpus);
    assert_int_equal(cpus.usable, 4);
}

static void kernels_with_more_than_1024_cpus_are_asked_with_larger_masks(void **state)
{
    static struct cpus cpus;
    made_up_cpus = 3000;
    cpus_read_from(*state, &cpus);
    assert_int_equal(cpus.allowed, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(cpus.list[i], 3 * i);
    made_up_cpus = 100000; /* more than the list holds */
    cpus_read_from(*state, &cpus);
    assert_int_equal(cpus.allowed, CPUS_MAX);
    assert_int_equal(cpus.list[CPUS_MAX - 1], 3 * (CPUS_MAX - 1));
}

static void without_a_mask_all_online_are_allowed(void **state)
{
    struct cpus cpus;
    made_up_error = EPERM;
    tree_put(*state, "/sys/devices/system/cpu/online", "1-2,5\n");
    cpus_read_from(*state, &cpus);
    assert_int_equal(cpus.allowed, 3);
    assert_int_equal(cpus.list[0], 1);
    assert_int_equal(cpus.list[2], 5);
}

static void the_real_mask_is_read(void **state)
{
    cpu_set_t before, one;
    struct cpus cpus;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    cpus_read(&cpus);
    assert_int_equal(cpus.allowed, CPU_COUNT(&before));
    int last = cpus.list[cpus.allowed - 1];
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    cpus_read(&cpus);
    sched_setaffinity(0, sizeof(before), &before);
    assert_int_equal(cpus.allowed, 1);
    assert_int_equal(cpus.usable, 1);
    assert_int_equal(cpus.list[0], last);
}

static void lists_of_cpus_are_counted(void **state)
{
    assert_int_equal(cpulist_count("0"), 1);
    assert_int_equal(cpulist_count("0-3,8,10-11"), 7);
    assert_int_equal(cpulist_count(""), 0);
    assert_int_equal(cpulist_count("3-1"), 0);
    assert_int_equal(cpulist_count("0-3,x"), 0);
    assert_int_equal(cpulist_count("0-99999999999999999999"), 0);
    assert_int_equal(cpulist_count("-1"), 0);
}

static void memory_limits_are_the_tightest_of_all_ancestors(void **state)
{
    struct cgroup_limit limit = {.value = 7};
    put_group(*state, V2_MOUNT("/"), "0::/a/b\n");
    tree_put(*state, "/sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_int_equal(cgroup_least(*state, "memory", "memory.max", "memory.limit_in_bytes", &limit),
                     3);
    assert_false(limit.is_limited);
    tree_put(*state, "/sys/fs/cgroup/a/memory.max", "1073741824\n");
    cgroup_least(*state, "memory", "memory.max", "memory.limit_in_bytes", &limit);
    assert_true(limit.is_limited);
    assert_int_equal(limit.value, 1073741824);
}

static void v1_memory_limit_of_the_greatest_number_is_none(void **state)
{
    struct cgroup_limit limit = {.is_limited = true};
    put_group(*state, V1_MOUNT("/", "memory"), "4:memory:/a\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/a/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(cgroup_least(*state, "memory", "memory.max", "memory.limit_in_bytes", &limit),
                     2);
    assert_false(limit.is_limited);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(v2_quota_of_the_own_group_counts),
        IN_TREE(v2_tighter_ancestor_wins),
        IN_TREE(v2_looser_ancestor_does_not),
        IN_TREE(v2_sibling_does_not_count),
        IN_TREE(v2_max_is_no_quota),
        IN_TREE(v1_quota_over_its_period),
        IN_TREE(v1_tighter_ancestor_wins),
        IN_TREE(v1_minus_one_is_no_quota),
        IN_TREE(v1_cpuset_is_not_mistaken_for_cpu),
        IN_TREE(the_tighter_of_v1_and_v2_counts),
        IN_TREE(container_whose_mount_begins_at_its_own_group),
        IN_TREE(container_with_a_group_below_its_mount),
        IN_TREE(mount_of_a_group_that_only_begins_alike_is_not_ours),
        IN_TREE(mount_from_outside_the_namespace_is_an_ancestor),
        IN_TREE(group_outside_the_namespace_is_not_looked_for_inside),
        IN_TREE(mount_point_with_a_space_is_found),
        IN_TREE(garbage_is_no_quota),
        IN_TREE(damaged_tables_are_survived),
        IN_TREE(without_proc_there_is_an_error_and_no_quota),
        IN_TREE(usable_is_the_quota_rounded_up_within_the_mask),
        IN_TREE(quota_limits_what_is_usable),
        IN_TREE(kernels_with_more_than_1024_cpus_are_asked_with_larger_masks),
        IN_TREE(without_a_mask_all_online_are_allowed),
        IN_TREE(the_real_mask_is_read),
        IN_TREE(lists_of_cpus_are_counted),
        IN_TREE(memory_limits_are_the_tightest_of_all_ancestors),
        IN_TREE(v1_memory_limit_of_the_greatest_number_is_none),
    };
    return cmocka_run_group_tests_name("result/cpus", tests, NULL, NULL);
}
