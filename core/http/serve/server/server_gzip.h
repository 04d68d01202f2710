/*
 * A text made smaller for who takes gzip.
 *
 * Context: pure.
 */
#ifndef JTOP_SERVE_SERVER_GZIP_H
#define JTOP_SERVE_SERVER_GZIP_H

#include "core/base/text.h"

#include <stdbool.h>

/* Whether an Accept-Encoding header (NULL: none) says that gzip may be sent. */
bool server_gzip_taken(const char *accepted);

/* In place. 0; -errno: it stays as it is. */
int server_gzip_text(struct text *t);

#endif
