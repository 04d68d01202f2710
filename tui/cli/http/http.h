/*
 * Files:
 *   http       start of the program jtop-prof-http for serve and push
 *   http_here  serve and push as done inside jtop-prof-http
 *
 * `serve` and `push`. They need network libraries that nothing else here needs. So they are a
 * program of their own, jtop-prof-http, with the same command line. jtop-prof finds it in its own
 * directory (or in ../lib/jtop-prof), checks that it has the same version, and executes it in its
 * place.
 *
 * http.c is in jtop-prof, http_here.c in jtop-prof-http.
 *
 * Context: frontend, main thread, before any other thread is started.
 */
#ifndef JTOP_TUI_CLI_HTTP_HTTP_H
#define JTOP_TUI_CLI_HTTP_HTTP_H

#include "tui/cli/option/options.h"

/* Carries out o->word. Returns 0, or -errno with a message. */
int http_run(const struct options *o, int argc, char **argv, struct err *e);

#endif
