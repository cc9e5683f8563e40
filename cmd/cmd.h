/* What the subcommands share: exit statuses, messages, parsing of values. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "cmd/options.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum exit_status {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_CAPABILITY = 3, /* something that the machine or the caller's rights lack */
    EXIT_SIGNAL = 128,   /* plus its number */
};

/* A subcommand: argv[0] is its full name ("rwsem bench mmap"). Returns the exit status. */
int cmd_bench_mmap(int argc, char **argv);
int cmd_bench_lock(int argc, char **argv);

/*
 * Parses argv with argp from the table; `set` is called for each option with its key and value and
 * returns 0, or prints a message with complain() and returns -EINVAL. Arguments that are no option
 * are refused. Returns 0, or -EINVAL when a message has been printed; --help exits with 0.
 */
int options_parse(const struct option_table *table, int argc, char **argv,
                  int (*set)(void *context, int key, const char *value), void *context);

/* "COMMAND: message" on stderr; the command's name is set by options_parse(). */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* All parse a whole string and return 0, or -EINVAL (-ERANGE beyond the type or the bounds). */
int parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *out);
int parse_duration(const char *text, uint64_t *ns); /* "1.5s", "200ms"; a bare number is seconds */
int parse_size(const char *text, uint64_t *bytes);  /* "4096", "4K", "2M", "1G" */

/*
 * Copies the first item of a comma-separated list to `item` and returns the rest of the list, or
 * NULL when this was the last. An empty or too long item yields item[0] == '\0'.
 */
const char *list_next(const char *list, char *item, size_t item_size);

/*
 * The name among `names` (NULL at the end) that `text` was likely meant to be, or NULL if none is
 * near: for "did you mean".
 */
const char *nearest_name(const char *text, const char *const *names);

/* Writes out stdout's buffer; complains and returns EXIT_FAILED if it could not all be written. */
int finish_stdout(int status);

#endif
