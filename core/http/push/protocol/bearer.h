/*
 * The secret that is sent with each message: the first line of a file, which is read again when the
 * file has changed (Kubernetes renews mounted secrets).
 *
 * Context: one thread at a time.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_BEARER_H
#define JTOP_HTTP_PUSH_PROTOCOL_BEARER_H

#include "core/base/err.h"

#include <sys/stat.h>

#define BEARER_MAX 4096

struct bearer {
    const char *path;             /* borrowed; NULL: no token */
    char header[BEARER_MAX + 64]; /* "Authorization: Bearer …"; empty: none yet */
    struct stat seen;             /* status of the file that was read */
};

/* Reads the file if it has changed: 1 if it has, 0 if not. -errno with a message (which never
 * contains the token) if the file is missing, not trustworthy or not a token; the last good token
 * stays. */
int bearer_read(struct bearer *b, struct err *e);

/* Overwrites the token in memory. */
void bearer_forget(struct bearer *b);

#endif
