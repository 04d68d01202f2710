/*
 * The token that clients must show.
 *
 * Context: any thread, after it was read.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_GUARD_TOKEN_H
#define JTOP_HTTP_SERVE_SERVER_GUARD_TOKEN_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define GUARD_TOKEN_MIN 16
#define GUARD_TOKEN_MAX 256

struct guard_token {
    size_t length; /* 0: no token is required */
    char bytes[GUARD_TOKEN_MAX];
};

/* Reads the first line of the file, which must be ours and readable by nobody else. -errno with a
 * message. */
int guard_token_read(const char *path, struct guard_token *out, struct err *e);

/* Compares in a time that does not depend on where the texts differ. False if no token is
 * required. */
bool guard_token_is(const struct guard_token *token, const char *shown);

/* The same for any two texts of that length. */
bool guard_same(const char *a, const char *b, size_t length);

#endif
