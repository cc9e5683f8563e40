/* Values that several commands take, checked and complained about in the same words. */
#ifndef CMD_VALUES_H
#define CMD_VALUES_H

#include "peers/peer.h"
#include <stdbool.h>
#include <stdint.h>

/* All return 0, or -EINVAL after a message that names `option`. */

/* A time from 1 us to 24 hours, or also 0 where that makes sense. */
int value_duration(const char *option, const char *text, bool may_be_zero, uint64_t *ns);
int value_number(const char *option, const char *text, uint64_t least, uint64_t most,
                 uint64_t *number);

/* A comma-separated list of peers, no name twice; fills at most `most`. */
int value_peers(const char *option, const char *list, const struct peer **peers, unsigned most,
                unsigned *count);

/* A line for each peer that this build lacks, for lists that have `indent` columns after the name.
 */
void print_peers_away(int indent);

/* Numbers of threads up to `most_threads`; "2x" is twice `cpus`, or as many as may be. A number
 * that comes twice counts once. */
int value_threads(const char *list, unsigned cpus, unsigned most_threads, unsigned *threads,
                  unsigned most, unsigned *count);

/* Whether argv asks for `--NAME list` (or -LETTER list). */
bool asks_for_list(int argc, char **argv, const char *name, char letter);

/* A seed from the clock, small enough for every reader of JSON. */
uint64_t seed_from_clock(void);

#define SEED_MOST ((1ull << 53) - 1)

#endif
