/* Which CPUs the library thinks it may use: affinity of the real system, quotas of made-up ones. */
#include "lib/os.h"
#include "tests/result/tree.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char *root;

static int make(void **state)
{
    root = tree_make();
    return 0;
}

static int unmake(void **state)
{
    tree_remove(root);
    return 0;
}

static void no_quota_without_control_groups(void **state)
{
    assert_int_equal(os_quota_cpus(root), UINT32_MAX);
    tree_put(root, "/proc/self/cgroup", "0::/\n");
    assert_int_equal(os_quota_cpus(root), UINT32_MAX);
}

static void the_tightest_group_counts(void **state)
{
    tree_put(root, "/proc/self/cgroup", "0::/a.slice/b.scope\n");
    tree_put(root, "/sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
    tree_put(root, "/sys/fs/cgroup/a.slice/b.scope/cpu.max", "400000 100000\n");
    assert_int_equal(os_quota_cpus(root), 2); /* one and a half, rounded up */
    tree_put(root, "/sys/fs/cgroup/a.slice/b.scope/cpu.max", "5000 100000\n");
    assert_int_equal(os_quota_cpus(root), 1);
    tree_put(root, "/sys/fs/cgroup/a.slice/cpu.max", "max 100000\n");
    tree_put(root, "/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
    assert_int_equal(os_quota_cpus(root), UINT32_MAX);
}

static void version_1_is_read_too(void **state)
{
    tree_put(root, "/proc/self/cgroup",
             "12:cpuset:/x\n4:cpu,cpuacct:/docker/77\n1:name=systemd:/docker/77\n");
    tree_put(root, "/sys/fs/cgroup/cpu/docker/77/cpu.cfs_quota_us", "300000\n");
    tree_put(root, "/sys/fs/cgroup/cpu/docker/77/cpu.cfs_period_us", "100000\n");
    tree_put(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    tree_put(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_quota_cpus(root), 3);
}

/* /proc names the group as the host sees it, and the mount's root is that group. */
static void in_a_container_the_mounts_root_is_the_own_group(void **state)
{
    tree_put(root, "/proc/self/cgroup", "4:cpu,cpuacct:/docker/77\n");
    tree_put(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    tree_put(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_quota_cpus(root), 1);
}

static void nonsense_is_no_quota(void **state)
{
    tree_put(root, "/proc/self/cgroup", "nonsense\n0::/a\n4:cpu\n");
    tree_put(root, "/sys/fs/cgroup/a/cpu.max", "-5 100000\n");
    tree_put(root, "/sys/fs/cgroup/cpu.max", "100 0\n");
    assert_int_equal(os_quota_cpus(root), UINT32_MAX);
}

/* Affinity counts, not what is online. */
static void affinity_counts(void **state)
{
    uint64_t second = 1000000000, later = 5 * second;
    cpu_set_t before, one;
    int cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    assert_in_range(os_usable_cpus(later), 1, (unsigned)CPU_COUNT(&before));
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(os_usable_cpus(later + 2 * second), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make, unmake)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CASE(no_quota_without_control_groups),
        CASE(the_tightest_group_counts),
        CASE(version_1_is_read_too),
        CASE(in_a_container_the_mounts_root_is_the_own_group),
        CASE(nonsense_is_no_quota),
        cmocka_unit_test(affinity_counts),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
