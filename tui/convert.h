/*
 * Files into files: `convert IN OUT`, and a recording or another's profile in place of a JVM.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CONVERT_H
#define JTOP_TUI_CONVERT_H

#include "tui/options.h"

/* Writes a file's profile in the formats asked for. */
int convert_file(const struct options *o, const char *path, struct err *e);

#endif
