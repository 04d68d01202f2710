/*
 * The inside of http.h in jtop-prof-http: from a command line to core/http.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_HTTP_PARTS_H
#define JTOP_TUI_HTTP_PARTS_H

#include "tui/cli/http/http.h"

/* Each runs until `stop_fd` is readable. 0, or -errno with a message and exit code. */
int http_serve(const struct options *o, int stop_fd, struct err *e);
int http_push(const struct options *o, int stop_fd, struct err *e);

#endif
