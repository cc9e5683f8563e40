/* Facts of an environment block of a made-up machine; see facts.h. */
#include "tests/result/facts.h"
#include "result/env.h"
#include "tests/result/test.h"
#include "tests/result/tree.h"
#include <stdio.h>
#include <string.h>

int facts_make(void **state)
{
    char *tree = tree_make();
    tree_put(tree, "/proc/sys/kernel/osrelease", "9.8.7-test\n");
    tree_put(tree, "/proc/sys/kernel/version", "#1 SMP Debian 9.8.7-1\n");
    *state = tree;
    return 0;
}

int facts_clear(void **state)
{
    tree_remove(*state);
    return 0;
}

json_t *facts_collect(const char *tree)
{
    json_t *env = env_collect_from(tree);
    assert_non_null(env);
    return env;
}

const char *facts_text(const json_t *env, const char *group, const char *key)
{
    const json_t *value = json_object_get(json_object_get(env, group), key);
    if (!value || (!json_is_string(value) && !json_is_null(value)))
        fail_msg("%s.%s is not there as text", group, key);
    return json_string_value(value);
}

long long facts_integer(const json_t *env, const char *group, const char *key)
{
    const json_t *value = json_object_get(json_object_get(env, group), key);
    if (!json_is_integer(value))
        fail_msg("%s.%s is no integer", group, key);
    return json_integer_value(value);
}

const char *facts_reason(const json_t *env, const char *group, const char *key)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.%s", group, key);
    const char *reason = json_string_value(json_object_get(json_object_get(env, "missing"), name));
    assert_true(json_is_null(json_object_get(json_object_get(env, group), key)));
    if (!reason || !reason[0])
        fail_msg("%s is null for no reason", name);
    return reason;
}

const char *facts_switch(const json_t *env, const char *name)
{
    const json_t *all = json_object_get(json_object_get(env, "kernel"), "config");
    return json_string_value(json_object_get(json_object_get(all, name), "value"));
}

void assert_fact(const char *tree, const char *group, const char *key, const char *expected)
{
    json_t *env = facts_collect(tree);
    const char *told = facts_text(env, group, key);
    if (!told || strcmp(told, expected) != 0)
        fail_msg("%s.%s is %s, not %s", group, key, told ? told : "null", expected);
    json_decref(env);
}
