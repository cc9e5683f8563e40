/* Values that several commands take. */
#include "cmd/values.h"
#include "cmd/cmd.h"
#include "result/clock.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_MOST = 63 };

int value_duration(const char *option, const char *text, bool may_be_zero, uint64_t *ns)
{
    uint64_t least = may_be_zero ? 0 : 1000;

    if (!parse_duration(text, ns) && *ns >= least && *ns <= 86400ull * 1000000000)
        return 0;
    complain("--%s: '%s' is not a time %s 24 hours, such as 500ms or 2s", option, text,
             may_be_zero ? "up to" : "from 1us to");
    return -EINVAL;
}

int value_number(const char *option, const char *text, uint64_t least, uint64_t most,
                 uint64_t *number)
{
    if (!parse_count(text, least, most, number))
        return 0;
    complain("--%s: '%s' is not a whole number from %llu to %llu", option, text,
             (unsigned long long)least, (unsigned long long)most);
    return -EINVAL;
}

void print_peers_away(int indent)
{
    for (const struct peer_away *p = peers_away; p->name; p++)
        printf("%-16s %*snot here: %s\n", p->name, indent ? indent + 2 : 0, "", p->why);
}

static void complain_of_peer(const char *option, const char *item, const char *list)
{
    const char *names[NAMES_MOST + 1] = {NULL};

    for (const struct peer_away *p = peers_away; p->name; p++)
        if (!strcmp(p->name, item)) {
            complain("--%s: %s is not here: %s", option, item, p->why);
            return;
        }
    for (size_t i = 0; peer_table[i] && i < NAMES_MOST; i++)
        names[i] = peer_table[i]->name;
    const char *nearest = nearest_name(item, names);
    complain("--%s: there is no %s '%.*s'%s%s%s ('--%s list' shows all)", option, option,
             (int)strcspn(list, ","), list, nearest ? "; did you mean '" : "",
             nearest ? nearest : "", nearest ? "'?" : "", option);
}

int value_peers(const char *option, const char *list, const struct peer **peers, unsigned most,
                unsigned *count)
{
    char item[32];

    *count = 0;
    do {
        const char *rest = list_next(list, item, sizeof item);
        const struct peer *peer = peer_find(item);
        if (!peer) {
            complain_of_peer(option, item, list);
            return -EINVAL;
        }
        for (unsigned i = 0; i < *count; i++)
            if (peers[i] == peer) {
                complain("--%s: '%s' is named twice", option, item);
                return -EINVAL;
            }
        if (*count == most) {
            complain("--%s: more than %u names", option, most);
            return -EINVAL;
        }
        peers[(*count)++] = peer;
        list = rest;
    } while (list);
    return 0;
}

static bool contains(const unsigned *list, unsigned count, uint64_t n)
{
    for (unsigned i = 0; i < count; i++)
        if (list[i] == n)
            return true;
    return false;
}

int value_threads(const char *list, unsigned cpus, unsigned most_threads, unsigned *threads,
                  unsigned most, unsigned *count)
{
    char item[32];

    *count = 0;
    do {
        list = list_next(list, item, sizeof item);
        size_t length = strlen(item);
        bool is_multiple = length > 1 && item[length - 1] == 'x';
        uint64_t n, factor = is_multiple ? cpus : 1;
        if (is_multiple)
            item[length - 1] = '\0';
        if (parse_count(item, 1, most_threads, &n)) {
            complain("--threads: '%s%s' is not a number of threads from 1 to %u (or 1x, 2x, … of "
                     "the %u CPUs that may be used here)",
                     item, is_multiple ? "x" : "", most_threads, cpus);
            return -EINVAL;
        }
        n = n * factor > most_threads ? most_threads : n * factor;
        if (contains(threads, *count, n))
            continue; /* 4 and 2x are the same on two CPUs */
        if (*count == most) {
            complain("--threads: more than %u numbers", most);
            return -EINVAL;
        }
        threads[(*count)++] = (unsigned)n;
    } while (list);
    return 0;
}

bool asks_for_list(int argc, char **argv, const char *name, char letter)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        const char *option = argv[i], *equals = strchr(option, '=');
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : "";
        size_t length = equals ? (size_t)(equals - option) : strlen(option);
        bool is_long = length > 2 && !strncmp(option, "--", 2) && length - 2 <= strlen(name) &&
                       !strncmp(option + 2, name, length - 2);
        const char *at = option[0] == '-' && option[1] != '-' ? strchr(option + 1, letter) : NULL;
        bool is_short = at != NULL; /* also at the end of a bundle: -qg list */
        if (is_short && at[1])
            value = at + 1;
        if ((is_long || is_short) && !strcmp(value, "list"))
            return true;
    }
    return false;
}

uint64_t seed_from_clock(void)
{
    return (clock_monotonic_ns() ^ (uint64_t)getpid() << 32) & SEED_MOST;
}
