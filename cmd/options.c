/* Option tables through argp: the same rows that the man page is made of. */
#include "cmd/cmd.h"
#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *command_name = "rwsem";

struct parsing {
    const struct option_table *table;
    int (*set)(void *context, int key, const char *value);
    void *context;
};

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", command_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static error_t parse_one(int key, char *value, struct argp_state *state)
{
    struct parsing *parsing = state->input;

    if (key == ARGP_KEY_ARG) {
        complain("'%s' is not expected here (try '%s --help')", value, command_name);
        return EINVAL;
    }
    for (const struct option_row *row = parsing->table->rows; row->name; row++)
        if (row->key == key)
            return -parsing->set(parsing->context, key, value);
    return ARGP_ERR_UNKNOWN;
}

static char *help_text(const struct option_row *row)
{
    char *text = NULL;
    int length = row->fallback ? asprintf(&text, "%s (default: %s)", row->help, row->fallback)
                               : asprintf(&text, "%s", row->help);
    return length < 0 ? NULL : text;
}

/* argp writes names with '-' stripped from argv[0]; the two-word names are kept by hand. */
int options_parse(const struct option_table *table, int argc, char **argv,
                  int (*set)(void *context, int key, const char *value), void *context)
{
    struct parsing parsing = {.table = table, .set = set, .context = context};
    struct argp_option *options;
    size_t count = 0;
    int error = -ENOMEM;

    command_name = argv[0];
    argp_err_exit_status = EXIT_USAGE;
    while (table->rows[count].name)
        count++;
    options = calloc(count + 1, sizeof *options);
    if (!options)
        return error;
    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = &table->rows[i];
        options[i].name = row->name;
        options[i].key = row->key;
        options[i].arg = row->argument;
        options[i].doc = help_text(row);
        options[i].group = 1;
        if (!options[i].doc)
            goto out;
    }
    struct argp argp = {
        .options = options, .parser = parse_one, .args_doc = table->usage, .doc = table->about};
    error = -argp_parse(&argp, argc, argv, 0, NULL, &parsing);
out:
    for (size_t i = 0; i < count; i++)
        free((char *)options[i].doc);
    free(options);
    return error;
}

int finish_stdout(int status)
{
    static bool is_told;
    bool has_failed = ferror(stdout) != 0;
    int error = 0;

    if (fflush(stdout))
        error = errno;
    if (!error && !has_failed)
        return status;
    if (!is_told)
        complain("could not write to standard output%s%s", error ? ": " : "",
                 error ? strerror(error) : "");
    is_told = true;
    return status == EXIT_DONE ? EXIT_FAILED : status;
}
