/* Chooses and calibrates the clock of measured loops. */
#include "result/clock.h"
#include <stdio.h>
#include <string.h>

struct measuring_clock measuring_clock = {.name = "CLOCK_MONOTONIC"};

enum { CALIBRATION_NS = 20000000, READINGS = 16 };

/* The kernel watches the counter against other clocks and gives it up where it goes astray. */
static bool kernel_trusts_tsc(void)
{
    char name[32] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

    if (!f)
        return false;
    if (!fgets(name, sizeof name, f))
        name[0] = '\0';
    fclose(f);
    return !strncmp(name, "tsc", 3) && (name[3] == '\n' || name[3] == '\0');
}

struct reading {
    uint64_t ns, ticks;
};

/* Reads both clocks as nearly at once as several tries allow: the narrowest bracket counts. */
static struct reading read_both(void)
{
    struct reading best = {0, 0};
    uint64_t narrowest = UINT64_MAX;

    for (int i = 0; i < READINGS; i++) {
        uint64_t before = tsc_read();
        uint64_t ns = clock_monotonic_ns();
        uint64_t after = tsc_read();
        if (after - before < narrowest) {
            narrowest = after - before;
            best = (struct reading){.ns = ns, .ticks = before + (after - before) / 2};
        }
    }
    return best;
}

void clock_init(void)
{
    if (measuring_clock.ns_per_tick_q32 || !tsc_is_invariant() || !kernel_trusts_tsc())
        return;
    struct reading start = read_both(), end;
    do
        end = read_both();
    while (end.ns - start.ns < CALIBRATION_NS);
    if (end.ticks <= start.ticks)
        return;
    measuring_clock.ns_per_tick_q32 =
        (uint64_t)(((unsigned __int128)(end.ns - start.ns) << 32) / (end.ticks - start.ticks));
    measuring_clock.name = "tsc";
}
