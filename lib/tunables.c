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

void rwsem__load_number(const char *variable, const char *unit, uint64_t min, uint64_t max,
                        uint64_t *value)
{
    const char *text = secure_getenv(variable);
    unsigned long long number;
    int saved = errno;
    char *end;

    if (!text)
        return;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || number < min || number > max)
        fprintf(stderr, "rwsem: %s=%s is not used: give %llu to %llu (%s)\n", variable, text,
                (unsigned long long)min, (unsigned long long)max, unit);
    else
        *value = number;
    errno = saved;
}

static void load(const struct row *row)
{
    char env[64] = "RWSEM_";
    size_t i;

    for (i = 0; row->name[i]; i++)
        env[6 + i] = (char)toupper((unsigned char)row->name[i]);
    rwsem__load_number(env, row->unit, row->min, row->max, row->value);
}

void rwsem__load_tunables(void)
{
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        load(&rows[i]);
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
