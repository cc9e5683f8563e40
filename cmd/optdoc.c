/*
 * Prints the OPTIONS section of a command's man page (scdoc) from its option table. Built for the
 * build machine and run at build time: links nothing but the tables.
 */
#include "cmd/options.h"
#include "docs/scd.h"

static const struct option_table *const tables[] = {&options_bench_mmap, &options_bench_lock};

static void print_row(const struct option_row *row)
{
    if (row->key < 256)
        printf("*-%c*, ", row->key);
    printf("*--%s*", row->name);
    if (row->argument) {
        printf("=_");
        print_text(row->argument);
        printf("_");
    }
    printf("\n\t");
    print_text(row->help);
    if (row->fallback) {
        printf(" (default: ");
        print_text(row->fallback);
        printf(")");
    }
    printf(".\n\n");
}

static int is_named(const struct option_table *table, const char *page)
{
    const char *a = table->command;
    for (; *a && *page; a++, page++)
        if (*a != *page && !(*a == ' ' && *page == '-'))
            return 0;
    return *a == *page;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof tables / sizeof tables[0]; i++)
        if (is_named(tables[i], argv[1])) {
            printf("# OPTIONS\n\n");
            for (const struct option_row *row = tables[i]->rows; row->name; row++)
                print_row(row);
            return 0;
        }
    fprintf(stderr, "usage: optdoc COMMAND, as in: optdoc bench-mmap\n");
    return 2;
}
