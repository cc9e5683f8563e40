/* The table of tunables, and how the environment gets into it. */
#include "tunables.h"
#include "rwsem.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rwsem__tunables rwsem__tunable = {
#define X(name, unit, def, min, max, reason) .name = def,
#include "tunables.def"
#undef X
};

static const struct row {
    const char *name, *unit;
    uint64_t min, max;
    uint64_t *value;
} rows[] = {
#define X(name, unit, def, min, max, reason) {#name, unit, min, max, &rwsem__tunable.name},
#include "tunables.def"
#undef X
};

static void load(const struct row *row)
{
    char env[64] = "RWSEM_", *end;
    unsigned long long value;
    const char *text;
    size_t i;

    for (i = 0; row->name[i]; i++)
        env[6 + i] = (char)toupper((unsigned char)row->name[i]);
    text = secure_getenv(env);
    if (!text)
        return;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || value < row->min || value > row->max)
        fprintf(stderr, "rwsem: %s=%s is not used: give %llu to %llu (%s)\n", env, text,
                (unsigned long long)row->min, (unsigned long long)row->max, row->unit);
    else
        *row->value = value;
}

void rwsem__load_tunables(void)
{
    int saved = errno;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        load(&rows[i]);
    errno = saved;
}

int rwsem_tunable(const char *name, uint64_t *value)
{
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *value = *rows[i].value;
            return 0;
        }
    }
    return -ENOENT;
}
