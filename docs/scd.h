/* What the programs share that print parts of man pages from tables, at build time. */
#ifndef DOCS_SCD_H
#define DOCS_SCD_H

#include <stdio.h>
#include <string.h>

/* scdoc takes `_` and `*` for emphasis and `\` for itself. */
static inline void print_text(const char *text)
{
    for (; *text; text++) {
        if (strchr("_*\\~[", *text))
            putchar('\\');
        putchar(*text);
    }
}

#endif
