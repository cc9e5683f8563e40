/*
 * Prints the tables of rwsem(7) (scdoc) from the library's own lists: the tunables, or the counters
 * of statistics. Built for the build machine and run at build time: links nothing.
 */
#include "docs/scd.h"
#include "rwsem-stats.h"
#include <ctype.h>
#include <stddef.h>

static const struct {
    const char *name, *unit, *reason;
    unsigned long long fallback, min, max;
} tunables[] = {
#define X(name, unit, def, min, max, reason) {#name, unit, reason, def, min, max},
#include "lib/tunables.def"
#undef X
};

static const struct {
    const char *name, *what;
} counters[] = {
#define X(name, what) {#name, what},
    RWSEM_COUNTERS(X)
#undef X
};

static void print_sentence(const char *text)
{
    const char first[2] = {(char)toupper((unsigned char)*text), '\0'};

    print_text(first);
    print_text(text + 1);
    printf(".\n\n");
}

static void print_tunables(void)
{
    char env[64];
    size_t i, n;

    for (i = 0; i < sizeof(tunables) / sizeof(tunables[0]); i++) {
        snprintf(env, sizeof(env), "RWSEM_%s", tunables[i].name);
        for (n = 0; env[n]; n++)
            env[n] = (char)toupper((unsigned char)env[n]);
        printf("*");
        print_text(env);
        printf("* (%s; default %llu, %llu to %llu)\n\t", tunables[i].unit, tunables[i].fallback,
               tunables[i].min, tunables[i].max);
        print_sentence(tunables[i].reason);
    }
}

static void print_counters(void)
{
    size_t i;

    for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        printf("*");
        print_text(counters[i].name);
        printf("*\n\t");
        print_sentence(counters[i].what);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "tunables") == 0) {
        print_tunables();
    } else if (argc == 2 && strcmp(argv[1], "counters") == 0) {
        print_counters();
    } else {
        fprintf(stderr, "usage: libdoc tunables|counters\n");
        return 2;
    }
    return 0;
}
