/* Generators of paired rounds; see the header. */
#include "tests/bench/machines.h"
#include <math.h>

const struct machine machines[] = {
    {.name = "quiet", .noise = 0.02},
    {.name = "drifting", .noise = 0.03, .drift = 0.2},
    {.name = "heavy-tailed", .noise = 0.02, .wild_share = 0.15, .wild_slow_up = 5},
    {.name = "drifting and heavy-tailed",
     .noise = 0.03,
     .drift = 0.1,
     .wild_share = 0.1,
     .wild_slow_up = 3},
    {.name = "noisy", .noise = 0.1},
};
const size_t machine_count = sizeof machines / sizeof *machines;

/* Splitmix64 (Steele, Lea and Flood, 2014), as a number in (0, 1). */
static double uniform(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller's transform. */
static double normal(uint64_t *random)
{
    double radius = sqrt(-2 * log(uniform(random)));
    return radius * cos(2 * M_PI * uniform(random));
}

static double rate(const struct machine *m, uint64_t *random, double level)
{
    double log_rate = level + m->noise * normal(random);
    if (uniform(random) < m->wild_share)
        log_rate -= log(1 + (m->wild_slow_up - 1) * uniform(random));
    return 1e5 * exp(log_rate);
}

void machine_run(const struct machine *m, uint64_t *random, double ratio, double *a, double *b,
                 size_t n)
{
    double level = 0;

    for (size_t i = 0; i < n; i++) {
        level += m->drift * normal(random);
        a[i] = ratio * rate(m, random, level);
        b[i] = rate(m, random, level);
    }
}
