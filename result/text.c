/* Command lines and files need not be UTF-8, JSON has to be; see text.h. */
#include "result/text.h"
#include <stdlib.h>
#include <string.h>

/* Bytes of the well-formed UTF-8 sequence that `s` begins with; 0 if it begins with none. */
static size_t sequence_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

json_t *text_to_json(const char *text)
{
    static const char unknown[] = "\xef\xbf\xbd";
    const unsigned char *from = (const unsigned char *)text;
    char *clean = malloc(strlen(text) * (sizeof(unknown) - 1) + 1);
    if (!clean)
        return NULL;
    char *to = clean;
    while (*from) {
        size_t length = sequence_length(from);
        if (length) {
            memcpy(to, from, length);
            to += length;
            from += length;
        } else {
            memcpy(to, unknown, sizeof(unknown) - 1);
            to += sizeof(unknown) - 1;
            from++;
        }
    }
    *to = '\0';
    json_t *json = json_string(clean);
    free(clean);
    return json;
}
