/*
 * Files:
 *   http       start of the program jtop-prof-http for serve and push
 *   http_here  serve and push as done inside jtop-prof-http
 *
 * `serve` and `push`. They want libraries of the network that nothing else here does, so they are a
 * program of their own, jtop-prof-http, of the same command line; jtop-prof finds it beside itself
 * (or in ../lib/jtop-prof), makes sure it is of the same version, and becomes it.
 *
 * http.c is in jtop-prof, http_here.c in jtop-prof-http.
 *
 * Context: frontend, main thread, before any other thread is started.
 */
#ifndef JTOP_TUI_CLI_HTTP_HTTP_H
#define JTOP_TUI_CLI_HTTP_HTTP_H

#include "tui/cli/option/options.h"

/* Does o->word. 0, or -errno with a message. */
int http_run(const struct options *o, int argc, char **argv, struct err *e);

#endif
