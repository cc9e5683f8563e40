/* The options of `rwsem bench lock`. */
#include "cmd/options_bench_lock.h"
#include "cmd/options.h"
#include <stddef.h>

static const struct option_row rows[] = {
    {"lock", 'l', "LIST", "all but none, those that only spin, and linux-*",
     "Locks to compare; the first is what the others' ratios refer to. 'list' tells which there "
     "are. For --preset classic alone: those called linux-*, rwsem and mutex"},
    {"preset", 'p', "LIST", "all but classic", "Named cases to run; 'list' tells which there are"},
    {"threads", 't', "LIST", "2 in a case of your own",
     "Numbers of threads, a case each; 2x is twice the CPUs that this process may use"},
    {"writes", LOCK_OPT_WRITES, "LIST", "10 in a case of your own",
     "Shares of writes among the operations, in percent, a case each"},
    {"writers", LOCK_OPT_WRITERS, "N", NULL,
     "Dedicated roles: so many of the threads only write, the others only read"},
    {"inside", LOCK_OPT_INSIDE, "TIME", "50ns in a case of your own",
     "CPU time with the lock held in each operation"},
    {"outside", LOCK_OPT_OUTSIDE, "TIME", "50ns in a case of your own",
     "CPU time between two operations"},
    {"time", 'd', "TIME", "400ms",
     "Time of each lock in each case for rates, split over the rounds; as much again for waits"},
    {"rounds", 'r', "N", "10",
     "Rounds in which every lock has its turn, in shuffled order; an interval needs at least 6"},
    {"patience", LOCK_OPT_PATIENCE, "TIME", "10s",
     "A lock whose threads have not come back so long after the end of a round hangs: the round is "
     "killed, and the others go on"},
    {"pin", LOCK_OPT_PIN, NULL, NULL, "Pin threads to CPUs, in turn"},
    {"seed", LOCK_OPT_SEED, "N", "from the clock", "Seed of the shuffling; printed and recorded"},
    {"output", 'o', "FILE", NULL, "Write the full record there, as JSON"},
    {"json", LOCK_OPT_JSON, NULL, NULL, "Print the full record instead of the table"},
    {"csv", LOCK_OPT_CSV, NULL, NULL,
     "Print a line of comma-separated values a lock and case instead"},
    {"quiet", 'q', NULL, NULL, "No progress, and no messages where nothing is wrong"},
    {NULL, 0, NULL, NULL, NULL},
};

const struct option_table options_bench_lock = {
    .command = "bench lock",
    .summary = "reader-writer locks against one another on the same work",
    .usage = "",
    .about = "Threads read and write under a lock, the same work for every lock, in interleaved "
             "rounds; a check of the data that the lock protects finds locks that do not exclude.",
    .rows = rows,
};
