/* Values of options: counts, durations, sizes, lists, and the name that was likely meant. */
#include "cmd/cmd.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    double factor;
};

int parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -EINVAL; /* strtoull would take a sign and wrap it round */
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (*end)
        return -EINVAL;
    if (errno || n < least || n > most)
        return -ERANGE;
    *out = n;
    return 0;
}

/* A decimal number and one of the units; the last unit must have the name "". */
static int parse_with_unit(const char *text, const struct unit *units, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
        return -EINVAL; /* no signs, no "inf", no hexadecimal */
    double number = strtod(text, &end);
    if (end[-1] == 'e' || end[-1] == 'E')
        return -EINVAL;
    while (units->name[0] && strcmp(end, units->name))
        units++;
    if (strcmp(end, units->name))
        return -EINVAL;
    number *= units->factor;
    if (!(number < 9.2e18))
        return -ERANGE;
    *out = (uint64_t)llround(number);
    return 0;
}

int parse_duration(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {{"ns", 1},  {"us", 1e3}, {"ms", 1e6},
                                        {"s", 1e9}, {"m", 60e9}, {"", 1e9}};
    return parse_with_unit(text, units, ns);
}

int parse_size(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {{"K", 1 << 10},   {"k", 1 << 10},   {"KiB", 1 << 10},
                                        {"M", 1 << 20},   {"MiB", 1 << 20}, {"G", 1 << 30},
                                        {"GiB", 1 << 30}, {"B", 1},         {"", 1}};
    return parse_with_unit(text, units, bytes);
}

const char *list_next(const char *list, char *item, size_t item_size)
{
    size_t length = strcspn(list, ",");
    size_t copied = length < item_size ? length : 0;

    memcpy(item, list, copied);
    item[copied] = '\0';
    return list[length] ? list + length + 1 : NULL;
}

/* Levenshtein's distance, given up (as 99) for long texts. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[32];
    size_t na = strlen(a), nb = strlen(b);

    if (na >= 32 || nb >= 32)
        return 99;
    for (unsigned j = 0; j <= nb; j++)
        row[j] = j;
    for (unsigned i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            unsigned inserted = row[j - 1] + 1, deleted = row[j] + 1;
            diagonal = row[j];
            row[j] = replaced < inserted ? replaced : inserted;
            row[j] = deleted < row[j] ? deleted : row[j];
        }
    }
    return row[nb];
}

const char *nearest_name(const char *text, const char *const *names)
{
    const char *nearest = NULL;
    unsigned least = 1 + (unsigned)strlen(text) / 3; /* a typing slip for every three letters */

    for (; *names; names++) {
        unsigned d = distance(text, *names);
        bool is_start = text[0] && text[1] && !strncmp(text, *names, strlen(text));
        if (d <= least || (is_start && !nearest)) {
            nearest = *names;
            least = d < least ? d : least;
        }
    }
    return nearest;
}
