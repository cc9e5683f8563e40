/*
 * Puts the environment block together and gives the env_*.c files the means to fill it. One that
 * runs out of memory half-way is thrown away as a whole.
 */
#include "result/env.h"
#include "result/record.h"
#include "result/root.h"
#include "result/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void env_begin(struct env *e, const char *group)
{
    json_t *made = json_object();
    e->group_name = group;
    e->group = made;
    if (json_object_set_new(e->all, group, made) != 0) {
        e->is_out_of_memory = true;
        e->group = NULL;
    }
}

void env_put(struct env *e, const char *key, json_t *value)
{
    if (!value || json_object_set_new(e->group, key, value) != 0)
        e->is_out_of_memory = true;
}

void env_put_text(struct env *e, const char *key, const char *text)
{
    env_put(e, key, text_to_json(text));
}

void env_put_missing(struct env *e, const char *key, const char *why_format, ...)
{
    char why[512];
    char name[128];
    va_list args;
    va_start(args, why_format);
    vsnprintf(why, sizeof(why), why_format, args);
    va_end(args);
    snprintf(name, sizeof(name), "%s.%s", e->group_name, key);
    env_put(e, key, json_null());
    if (json_object_set_new(e->missing, name, text_to_json(why)) != 0)
        e->is_out_of_memory = true;
}

char *env_bracketed(char *text, char open, char close)
{
    char *begin = strchr(text, open);
    char *end = begin ? strchr(begin, close) : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    return begin + 1;
}

bool env_boot_option(const struct env *e, const char *name, char *value, size_t size)
{
    char line[4096];
    bool is_found = false;
    root_read(e->root, line, sizeof(line), "/proc/cmdline");
    char *save = NULL;
    for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        size_t length = strlen(name);
        if (strncmp(word, name, length) != 0 || word[length] != '=')
            continue;
        /* The last of several is the one in force. */
        snprintf(value, size, "%s", word + length + 1);
        is_found = true;
    }
    return is_found;
}

static void put_integer_file(struct env *e, const char *key, const char *path)
{
    long long value;
    int error = root_read_integer(e->root, &value, "%s", path);
    if (error)
        env_put_missing(e, key, "%s: %s", path, strerror(-error));
    else
        env_put(e, key, json_integer(value));
}

void env_put_file(struct env *e, const char *key, enum env_form form, const char *path)
{
    if (form == ENV_INTEGER) {
        put_integer_file(e, key, path);
        return;
    }
    char text[4096];
    int length = root_read(e->root, text, sizeof(text), "%s", path);
    const char *told = form == ENV_CHOICE ? env_bracketed(text, '[', ']') : text;
    if (length < 0)
        env_put_missing(e, key, "%s: %s", path, strerror(-length));
    else if (length == 0)
        env_put_missing(e, key, "%s is empty", path);
    else if (!told)
        env_put_missing(e, key, "%s marks no choice", path);
    else
        env_put_text(e, key, told);
}

void env_put_files(struct env *e, const struct env_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        env_put_file(e, facts[i].key, facts[i].form, facts[i].path);
}

json_t *env_collect_from(const char *root)
{
    struct env e = {.root = root, .all = json_object(), .missing = json_object()};
    env_kernel(&e);
    env_cpu(&e);
    env_memory(&e);
    env_limits(&e);
    env_process(&e);
    env_load(&e);
    env_virtual(&e);
    env_software(&e);
    if (json_object_set_new(e.all, "missing", e.missing) != 0)
        e.is_out_of_memory = true;
    if (!e.is_out_of_memory)
        return e.all;
    json_decref(e.all);
    return NULL;
}

json_t *env_collect(void)
{
    return env_collect_from("");
}
