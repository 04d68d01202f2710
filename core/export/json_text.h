/*
 * Pieces of JSON. Names come from a JVM that may be hostile: nothing in them can end a string, or
 * the script element that the JSON stands in; what is no UTF-8 is a '?'.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_JSON_TEXT_H
#define JTOP_EXPORT_JSON_TEXT_H

#include "core/base/text.h"

#include <stdint.h>

/* Appends `s` in quotes. */
void json_text_string(struct text *out, const char *s);
void json_text_number(struct text *out, uint64_t n);

#define JSON_TEXT_DIGITS 20 /* of a number, at most */

/* The same into `to`; returns how many digits. */
unsigned json_text_digits(uint64_t n, char to[JSON_TEXT_DIGITS]);

#endif
