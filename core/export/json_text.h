/*
 * Writes pieces of JSON. Names come from a JVM that may be hostile: no name can end a string or the
 * script element that contains the JSON. Invalid UTF-8 becomes '?'.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_JSON_TEXT_H
#define JTOP_EXPORT_JSON_TEXT_H

#include "core/base/text.h"

#include <stdint.h>

/* Appends `s` as a quoted string. */
void json_text_string(struct text *out, const char *s);
void json_text_number(struct text *out, uint64_t n);

#define JSON_TEXT_DIGITS 20 /* maximum number of digits of a number */

/* Writes the digits into `to`; returns their number. */
unsigned json_text_digits(uint64_t n, char to[JSON_TEXT_DIGITS]);

#endif
