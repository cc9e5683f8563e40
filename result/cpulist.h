/* The kernel's notation for sets of CPUs or nodes, as in "0-3,8,10-11". */
#ifndef RESULT_CPULIST_H
#define RESULT_CPULIST_H

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * Takes the next range off `*text`. False at the end and at anything that is not a range; a caller
 * that cares tells these apart by **text being '\0'.
 */
static inline bool cpulist_next(const char **text, unsigned *first, unsigned *last)
{
    enum { BEYOND_ANY_CPU = 1 << 20 };
    const char *at = *text;
    if (!isdigit((unsigned char)*at))
        return false;
    char *end;
    unsigned long low = strtoul(at, &end, 10);
    unsigned long high = low;
    if (end[0] == '-' && isdigit((unsigned char)end[1]))
        high = strtoul(end + 1, &end, 10);
    if (high < low || high >= BEYOND_ANY_CPU)
        return false;
    *first = (unsigned)low;
    *last = (unsigned)high;
    *text = *end == ',' ? end + 1 : end;
    return true;
}

/* How many the whole list has; 0 where there is none or it is not such a list. */
static inline unsigned cpulist_count(const char *text)
{
    unsigned first, last, count = 0;
    while (cpulist_next(&text, &first, &last))
        count += last - first + 1;
    return *text == '\0' ? count : 0;
}

#endif
