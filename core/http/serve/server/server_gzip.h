/*
 * Which clients accept gzip.
 *
 * Context: pure.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_SERVER_GZIP_H
#define JTOP_HTTP_SERVE_SERVER_SERVER_GZIP_H

#include <stdbool.h>

/* Whether an Accept-Encoding header (NULL: none) says that gzip may be sent. */
bool server_gzip_taken(const char *accepted);

#endif
