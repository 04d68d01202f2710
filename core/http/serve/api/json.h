/*
 * Writes JSON piece by piece, and sets the commas itself. `key` is NULL within a list; keys are our
 * own and are written as they are. The text of a string may be anything (core/export/json_text.h).
 *
 * Context: pure.
 */
#ifndef JTOP_HTTP_SERVE_API_JSON_H
#define JTOP_HTTP_SERVE_API_JSON_H

#include "core/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
    struct text *out;
    bool more; /* the next value needs a comma before it */
};

void json_begin(struct json *j, const char *key, char bracket); /* '{' or '[' */
void json_end(struct json *j, char bracket);                    /* '}' or ']' */
void json_string(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
/* With three digits after the point; what is not a number is written as 0. */
void json_real(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
