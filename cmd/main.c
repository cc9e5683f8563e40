/* The command `rwsem`: finds the subcommand and hands over. */
#include "cmd/cmd.h"
#include "result/config.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct subcommand {
    const struct option_table *options;
    const char *full_name;
    int (*run)(int argc, char **argv);
};

static const struct subcommand subcommands[] = {
    {&options_bench_mmap, "rwsem bench mmap", cmd_bench_mmap},
    {&options_bench_lock, "rwsem bench lock", cmd_bench_lock},
};

enum { SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static void print_help(FILE *to)
{
    fprintf(to, "usage: rwsem COMMAND [OPTION...]\n\n"
                "Find, prove and fix reader-writer lock contention.\n\n");
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        fprintf(to, "  %-12s %s\n", subcommands[i].options->command,
                subcommands[i].options->summary);
    fprintf(to,
            "\n'rwsem COMMAND --help' tells a command's options, 'rwsem --version' the version.\n"
            "Exit status: 0 done, 1 failed, 2 usage, 3 a capability is missing, 128+N ended by "
            "signal N.\n");
}

/* How many of argv's words make up the command's name; 0 if they are another. */
static int words_matched(const char *command, int argc, char **argv)
{
    int words = 0;
    while (*command) {
        size_t length = strcspn(command, " ");
        if (words >= argc || strlen(argv[words]) != length || strncmp(argv[words], command, length))
            return 0;
        words++;
        command += length;
        command += *command == ' ';
    }
    return words;
}

static int unknown(int argc, char **argv)
{
    const char *names[SUBCOMMANDS + 1] = {NULL};
    char wanted[64];

    for (size_t i = 0; i < SUBCOMMANDS; i++)
        names[i] = subcommands[i].options->command;
    snprintf(wanted, sizeof wanted, "%s%s%s", argv[0], argc > 1 && argv[1][0] != '-' ? " " : "",
             argc > 1 && argv[1][0] != '-' ? argv[1] : "");
    const char *nearest = nearest_name(wanted, names);
    complain("no command '%s'%s%s%s (try 'rwsem --help')", wanted,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return EXIT_USAGE;
}

/*
 * Standard descriptors that the caller closed are given to /dev/null, so that no file or pipe of
 * ours takes their place. Opened the wrong way round: writing to a closed stdout stays an error.
 */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return finish_stdout(EXIT_DONE);
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("rwsem %s\n", RWSEM_VERSION);
        return finish_stdout(EXIT_DONE);
    }
    for (size_t i = 0; i < SUBCOMMANDS; i++) {
        int words = words_matched(subcommands[i].options->command, argc - 1, argv + 1);
        if (words) {
            argv[words] = (char *)subcommands[i].full_name;
            return finish_stdout(subcommands[i].run(argc - words, argv + words));
        }
    }
    return unknown(argc - 1, argv + 1);
}
