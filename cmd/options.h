/*
 * Options as data: one table a command, from which parsing, --help, the man page and later the
 * completions all come.
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

struct option_row {
    const char *name;     /* long name; NULL ends the table */
    int key;              /* the short letter, or a number above 255 where there is none */
    const char *argument; /* NULL: takes none */
    const char *fallback; /* what holds without it, in words; NULL: nothing to say */
    const char *help;     /* one or two sentences, without a full stop at the end */
};

struct option_table {
    const char *command; /* "bench mmap" */
    const char *summary; /* one line for the list of commands */
    const char *usage;   /* what follows the options; "" if nothing */
    const char *about;   /* a paragraph for --help */
    const struct option_row *rows;
};

extern const struct option_table options_bench_mmap, options_bench_lock;

#endif
