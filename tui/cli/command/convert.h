/*
 * Files into files: `convert IN OUT`, and a recording or another's profile in place of a JVM.
 *
 *      convert IN OUT                 by OUT's extension, or -o; "-" is stdout
 *      convert IN -f A -f B -o FMT    as for a JVM, see tui/cli/output/output.h
 *      OUT or -f *.jtop               a recording of ours
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_CONVERT_H
#define JTOP_TUI_CLI_COMMAND_CONVERT_H

#include "tui/cli/option/options.h"

/* Writes a file's profile in the formats asked for. Of ACTION_CONVERT `path` is operand[0], which
 * may be missing: what there is too few or too many of is an error. */
int convert_file(const struct options *o, const char *path, struct err *e);

#endif
