/*
 * Prints what the schema test validates: the frame of a record of this machine, the environment of
 * a made-up one, or the histogram of some samples.
 *
 * print_env frame | environment ROOT | histogram NS...
 */
#include "result/env.h"
#include "result/hist_json.h"
#include "result/record.h"
#include <stdlib.h>
#include <string.h>

static json_t *histogram(char *const *samples)
{
    struct hist h = {0};
    for (; *samples; samples++)
        hist_add(&h, strtoull(*samples, NULL, 10));
    return hist_to_json(&h);
}

int main(int argc, char **argv)
{
    json_t *made = NULL;
    if (argc >= 2 && strcmp(argv[1], "frame") == 0)
        made = record_new("bench mmap", argc, argv);
    else if (argc == 3 && strcmp(argv[1], "environment") == 0)
        made = env_collect_from(argv[2]);
    else if (argc >= 2 && strcmp(argv[1], "histogram") == 0)
        made = histogram(argv + 2);
    char *text = made ? record_text(made) : NULL;
    if (!text)
        return 1;
    fputs(text, stdout);
    free(text);
    json_decref(made);
    return 0;
}
