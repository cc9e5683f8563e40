/* Figures as people read them: three digits that matter, thousands apart, units named. */
#include "report/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct number number_whole(double x)
{
    struct number n = {"-"};
    char digits[32];

    if (!isfinite(x) || fabs(x) >= 1e18)
        return n;
    int length = snprintf(digits, sizeof digits, "%.0f", fabs(x));
    char *to = n.text;
    if (x <= -0.5)
        *to++ = '-';
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return n;
}

struct number number_short(double x)
{
    struct number n = {"-"};

    if (!isfinite(x))
        return n;
    if (fabs(x) >= 99.95)
        return number_whole(x);
    int decimals = x == 0 ? 0 : fabs(x) >= 9.995 ? 1 : fabs(x) >= 0.9995 ? 2 : 3;
    snprintf(n.text, sizeof n.text, "%.*f", decimals, x);
    return n;
}

struct number number_ratio(double x)
{
    struct number n = {"-"};
    double size = fabs(x);
    int decimals = 2;

    if (size >= 99.95)
        return number_whole(x);
    if (size > 0.9 && size < 1.1)
        decimals = 3; /* where one percent matters */
    else if (size < 0.0995 && size > 0)
        decimals = size >= 0.00995 ? 3 : 4;
    if (isfinite(x))
        snprintf(n.text, sizeof n.text, "%.*f", decimals, x);
    return n;
}

struct number number_time(double ns)
{
    static const struct {
        double from, unit;
        const char *name;
    } units[] = {{1e9, 1e9, "s"}, {1e6, 1e6, "ms"}, {1e3, 1e3, "us"}, {0, 1, "ns"}};
    struct number n = {"-"};
    unsigned i = 0;

    if (!isfinite(ns))
        return n;
    while (units[i].from > 0 && ns < units[i].from * 0.9995)
        i++;
    struct number value = number_short(ns / units[i].unit);
    if (strchr(value.text, '.')) { /* "200.0" has no such tail, "2.00" reads better as "2" */
        char *end = value.text + strlen(value.text);
        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            end[-1] = '\0';
    }
    snprintf(n.text, sizeof n.text, "%.20s %s", value.text, units[i].name);
    return n;
}

struct number number_size(uint64_t bytes)
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    struct number n;
    unsigned i = 0;

    while (bytes && bytes % 1024 == 0 && i < 4) {
        bytes /= 1024;
        i++;
    }
    snprintf(n.text, sizeof n.text, "%.20s %s", number_whole((double)bytes).text, names[i]);
    return n;
}
