/* Bytes from outside as JSON strings. */
#ifndef RESULT_TEXT_H
#define RESULT_TEXT_H

#include <jansson.h>

/*
 * A string that jansson takes whatever the bytes are: those that are not UTF-8 become U+FFFD. NULL
 * when memory ran out.
 */
json_t *text_to_json(const char *text);

#endif
