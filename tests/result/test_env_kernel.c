/*
 * What the environment block tells of the kernel: where its configuration is found, plain or
 * compressed, whole or damaged, and which way of preempting is in force.
 */
#include "result/config.h"
#include "tests/result/facts.h"
#include "tests/result/test.h"
#include "tests/result/tree.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if HAVE_ZLIB
#include "tests/skip.h"
#include <zlib.h>
#endif

static void set_is_told_from_unset_and_from_unknown(void **state)
{
    tree_put(*state, "/boot/config-9.8.7-test",
             "#\n# Automatically generated\n#\n"
             "CONFIG_PER_VMA_LOCK=y\n"
             "CONFIG_KASAN=m\n"
             "CONFIG_HZ=1000\n"
             "CONFIG_PREEMPT=\"odd\"\r\n"
             "# CONFIG_LOCK_STAT is not set\n"
             "CONFIG_HZ_1000=y\n");
    json_t *env = facts_collect(*state);
    assert_string_equal(facts_text(env, "kernel", "config_source"), "/boot/config-9.8.7-test");
    assert_string_equal(facts_switch(env, "CONFIG_PER_VMA_LOCK"), "y");
    assert_string_equal(facts_switch(env, "CONFIG_KASAN"), "m");
    assert_string_equal(facts_switch(env, "CONFIG_HZ"), "1000");
    assert_string_equal(facts_switch(env, "CONFIG_PREEMPT"), "odd");
    assert_string_equal(facts_switch(env, "CONFIG_LOCK_STAT"), "n");
    assert_string_equal(facts_switch(env, "CONFIG_RWSEM_SPIN_ON_OWNER"), "absent");
    assert_null(facts_switch(env, "CONFIG_HZ_1000"));
    json_decref(env);
}

static void each_place_is_looked_at(void **state)
{
    static const char *const places[] = {
        "/usr/src/linux-headers-9.8.7-test/.config",
        "/lib/modules/9.8.7-test/build/.config",
        "/usr/lib/modules/9.8.7-test/config",
        "/lib/modules/9.8.7-test/config",
        "/boot/config-9.8.7-test",
    };
    /* From the last choice to the first: each new one goes before those that are there. */
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        tree_put(*state, places[i], "CONFIG_SMP=y\n");
        assert_fact(*state, "kernel", "config_source", places[i]);
    }
}

static void configuration_of_another_release_is_not_taken(void **state)
{
    tree_put(*state, "/boot/config-9.8.6-test", "CONFIG_SMP=y\n");
    json_t *env = facts_collect(*state);
    assert_non_null(
        strstr(facts_reason(env, "kernel", "config_source"), "/boot/config-9.8.7-test"));
    assert_non_null(strstr(facts_reason(env, "kernel", "config_source"), "No such file"));
    facts_reason(env, "kernel", "config");
    json_decref(env);
}

static void file_without_switches_is_passed_over(void **state)
{
    tree_put(*state, "/boot/config-9.8.7-test", "<html>not found</html>\n");
    tree_put(*state, "/lib/modules/9.8.7-test/config", "CONFIG_SMP=y\n");
    assert_fact(*state, "kernel", "config_source", "/lib/modules/9.8.7-test/config");
}

static void folder_in_place_of_a_configuration_is_passed_over(void **state)
{
    tree_put(*state, "/boot/config-9.8.7-test/x", "");
    tree_put(*state, "/lib/modules/9.8.7-test/config", "CONFIG_SMP=y\n");
    assert_fact(*state, "kernel", "config_source", "/lib/modules/9.8.7-test/config");
}

static void switch_in_the_middle_of_a_long_line_is_none(void **state)
{
    /* The stream is read in pieces of 1023 bytes: the second must not count as a line. */
    char text[2100];
    memset(text, 'x', sizeof(text));
    memcpy(text, "CONFIG_CMDLINE=\"", 16);
    memcpy(text + 1023, "CONFIG_HZ=666 ", 14);
    strcpy(text + 2000, "\"\nCONFIG_SMP=y\n");
    tree_put(*state, "/boot/config-9.8.7-test", text);
    json_t *env = facts_collect(*state);
    assert_string_equal(facts_switch(env, "CONFIG_HZ"), "absent");
    assert_string_equal(facts_switch(env, "CONFIG_SMP"), "y");
    json_decref(env);
}

#if HAVE_ZLIB
/* Compresses into a file of the tree; `cut` bytes are left off its end. */
static void put_compressed(const char *tree, const char *path, const char *text, size_t cut)
{
    char whole[PATH_MAX];
    tree_put(tree, path, "");
    snprintf(whole, sizeof(whole), "%s%s", tree, path);
    gzFile file = gzopen(whole, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
    struct stat status;
    assert_int_equal(stat(whole, &status), 0);
    assert_int_equal(truncate(whole, status.st_size - (off_t)cut), 0);
}
#endif

static void compressed_configuration_comes_first(void **state)
{
#if HAVE_ZLIB
    put_compressed(*state, "/proc/config.gz", "CONFIG_HZ=300\n", 0);
    tree_put(*state, "/boot/config-9.8.7-test", "CONFIG_HZ=100\n");
    json_t *env = facts_collect(*state);
    assert_string_equal(facts_text(env, "kernel", "config_source"), "/proc/config.gz");
    assert_string_equal(facts_switch(env, "CONFIG_HZ"), "300");
    json_decref(env);
#else
    skip_because("built without zlib");
#endif
}

static void damaged_compression_is_said_and_passed_over(void **state)
{
#if HAVE_ZLIB
    put_compressed(*state, "/proc/config.gz", "CONFIG_HZ=300\nCONFIG_SMP=y\n", 6);
    json_t *env = facts_collect(*state);
    assert_non_null(
        strstr(facts_reason(env, "kernel", "config_source"), "/proc/config.gz: damaged"));
    json_decref(env);
    tree_put(*state, "/boot/config-9.8.7-test", "CONFIG_HZ=100\n");
    env = facts_collect(*state);
    assert_string_equal(facts_switch(env, "CONFIG_HZ"), "100");
    json_decref(env);
#else
    skip_because("built without zlib");
#endif
}

static void preemption_is_told_by_the_best_source(void **state)
{
    static const struct {
        const char *version, *debug, *boot, *config, *mode;
    } cases[] = {
        {"#1 SMP PREEMPT_DYNAMIC X", "none voluntary (full) lazy\n", "preempt=none", "PREEMPT_NONE",
         "full"},
        {"#1 SMP PREEMPT_DYNAMIC X", "", "quiet preempt=none preempt=lazy ro\n", "PREEMPT", "lazy"},
        {"#1 SMP PREEMPT_DYNAMIC X", "", "preempt=banana", "PREEMPT", "full"},
        {"#1 SMP PREEMPT_DYNAMIC X", "", "xpreempt=none", "PREEMPT_VOLUNTARY", "voluntary"},
        {"#1 SMP PREEMPT_RT X", "(none)", "preempt=none", "PREEMPT_NONE", "rt"},
        {"#1 SMP PREEMPT X", "", "preempt=none", "PREEMPT_LAZY", "lazy"},
        {"#1 SMP PREEMPT X", "", "", "HZ", "full"},
        {"#1 SMP X", "", "preempt=full", "PREEMPT_NONE", "none"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char config[64];
        snprintf(config, sizeof(config), "CONFIG_%s=y\n", cases[i].config);
        tree_put(*state, "/proc/sys/kernel/version", cases[i].version);
        tree_put(*state, "/sys/kernel/debug/sched/preempt", cases[i].debug);
        tree_put(*state, "/proc/cmdline", cases[i].boot);
        tree_put(*state, "/boot/config-9.8.7-test", config);
        assert_fact(*state, "kernel", "preemption", cases[i].mode);
    }
}

static void preemption_that_nothing_tells_is_null(void **state)
{
    json_t *env = facts_collect(*state);
    facts_reason(env, "kernel", "preemption");
    facts_reason(env, "kernel", "preemption_source");
    json_decref(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FACTS(set_is_told_from_unset_and_from_unknown),
        WITH_FACTS(each_place_is_looked_at),
        WITH_FACTS(configuration_of_another_release_is_not_taken),
        WITH_FACTS(file_without_switches_is_passed_over),
        WITH_FACTS(folder_in_place_of_a_configuration_is_passed_over),
        WITH_FACTS(switch_in_the_middle_of_a_long_line_is_none),
        WITH_FACTS(compressed_configuration_comes_first),
        WITH_FACTS(damaged_compression_is_said_and_passed_over),
        WITH_FACTS(preemption_is_told_by_the_best_source),
        WITH_FACTS(preemption_that_nothing_tells_is_null),
    };
    return cmocka_run_group_tests_name("result/env_kernel", tests, NULL, NULL);
}
