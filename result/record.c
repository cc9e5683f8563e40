/* The frame of a record, and its text; the file is record_file.c's. */
#include "result/record.h"
#include "result/config.h"
#include "result/text.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The words of the command line; where the program is installed is nobody's business. */
static json_t *command(int argc, char *const argv[])
{
    json_t *words = json_array();
    for (int i = 0; words && i < argc; i++) {
        const char *slash = i == 0 ? strrchr(argv[i], '/') : NULL;
        if (json_array_append_new(words, text_to_json(slash ? slash + 1 : argv[i])) != 0) {
            json_decref(words);
            return NULL;
        }
    }
    return words;
}

/* Now, as 2011-05-15T12:34:56Z. */
static json_t *now(void)
{
    char text[32];
    time_t seconds = time(NULL);
    struct tm utc;
    if (!gmtime_r(&seconds, &utc))
        return NULL;
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

json_t *record_new(const char *kind, int argc, char *const argv[])
{
    /* json_pack() takes over every value and returns NULL if one of them is. */
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:b}", "schema", RECORD_SCHEMA, "kind", kind,
                     "rwsem", RWSEM_VERSION, "command", command(argc, argv), "started", now(),
                     "environment", env_collect(), "complete", 0);
}

char *record_text(const json_t *record)
{
    /*
     * 15 digits bring every decimal of up to 15 digits back as it was and keep 0.1 from reading
     * 0.10000000000000001; what is exact in a record is an integer anyway.
     */
    char *text = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(15));
    size_t length = text ? strlen(text) : 0;
    char *line = text ? malloc(length + 2) : NULL;
    if (line) {
        memcpy(line, text, length);
        memcpy(line + length, "\n", 2);
    }
    free(text);
    return line;
}
