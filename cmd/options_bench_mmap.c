/* The options of `rwsem bench mmap`. */
#include "cmd/options_bench_mmap.h"
#include "cmd/options.h"
#include <stddef.h>

static const struct option_row rows[] = {
    {"gate", 'g', "LIST", "none,spin,mutex,adaptive,rwlock,rwsem",
     "Locks to take round each call, compared with one another; the first that is none (else the "
     "first) is the baseline. 'list' tells which there are"},
    {"threads", 't', "LIST", "1,2,4,2x,8x",
     "Numbers of threads, one cell each; 2x is twice the CPUs that this process may use, by "
     "affinity "
     "and control-group quota"},
    {"workload", 'w', "NAME", "map", "What the threads do; 'list' tells which there are"},
    {"touch", OPT_TOUCH, "none|first|all", "first", "Pages of a fresh mapping to write to"},
    {"populate", OPT_POPULATE, NULL, NULL, "Map with MAP_POPULATE"},
    {"size", 's', "SIZE", "one page, or what the workload has",
     "Bytes of a mapping, a multiple of the page size; K, M and G are powers of 1024"},
    {"iterations", 'n', "N", NULL,
     "Exactly N iterations in each thread in each round, instead of a time"},
    {"time", 'd', "TIME", "2s",
     "Time of each gate in each cell, split evenly over the rounds; ns, us, ms, s or m"},
    {"rounds", 'r', "N", "10 (1 with --classic)",
     "Rounds in which every gate has its turn, in shuffled order; an interval needs at least 6"},
    {"limit", OPT_LIMIT, "TIME", "10s",
     "With --iterations: the longest that a round of one gate may take before it is cut off"},
    {"pin", OPT_PIN, NULL, NULL, "Pin threads to CPUs, in turn"},
    {"seed", OPT_SEED, "N", "from the clock", "Seed of the shuffling; printed and recorded"},
    {"no-switches", OPT_NO_SWITCHES, NULL, NULL,
     "Leave out what a yield and a switch between threads and processes cost"},
    {"classic", OPT_CLASSIC, NULL, NULL,
     "Print the lines of the benchmark of 2011; unless said otherwise with its gates (none, spin, "
     "mutex), 4 threads and 10000 iterations"},
    {"output", 'o', "FILE", NULL, "Write the full record there, as JSON"},
    {"json", OPT_JSON, NULL, NULL, "Print the full record instead of the table"},
    {"csv", OPT_CSV, NULL, NULL, "Print a line of comma-separated values a gate and cell instead"},
    {"verbose", 'v', NULL, NULL, "Print every phase's latencies too"},
    {"quiet", 'q', NULL, NULL, "No progress, and the table alone"},
    {NULL, 0, NULL, NULL, NULL},
};

const struct option_table options_bench_mmap = {
    .command = "bench mmap",
    .summary = "the benchmark of 2011: mmap from several threads, bare and inside locks",
    .usage = "",
    .about =
        "Threads map memory, touch it and unmap it, with and without a lock (a gate) round each "
        "call, and the gates are compared in interleaved rounds.",
    .rows = rows,
};
