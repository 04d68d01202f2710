/*
 * The token that who asks must show.
 *
 * Context: any thread once it was read.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_GUARD_TOKEN_H
#define JTOP_HTTP_SERVE_SERVER_GUARD_TOKEN_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define GUARD_TOKEN_MIN 16
#define GUARD_TOKEN_MAX 256

struct guard_token {
    size_t length; /* 0: none is asked for */
    char bytes[GUARD_TOKEN_MAX];
};

/* The first line of the file, which must be ours and nobody else's to read. -errno with a message. */
int guard_token_read(const char *path, struct guard_token *out, struct err *e);

/* In a time that says nothing of where they differ. false where none is asked for. */
bool guard_token_is(const struct guard_token *token, const char *shown);

/* The same for any two texts of that length. */
bool guard_same(const char *a, const char *b, size_t length);

#endif
