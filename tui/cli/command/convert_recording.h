/*
 * Any readable file into a recording of ours (".jtop"), record by record: nothing of it is lost but
 * what -e, --from and --to leave out.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_CONVERT_RECORDING_H
#define JTOP_TUI_CLI_COMMAND_CONVERT_RECORDING_H

#include "tui/cli/option/options.h"

/* Whether a file's name asks for one. */
bool convert_is_recording(const char *path);

/* -EINVAL, exit code 100: these options choose what a recording cannot leave out. */
int convert_check_recording(const struct options *o, const char *path, struct err *e);

/* The file appears when it is whole. A line of warning, where `in` is damaged, goes to `damage`. */
int convert_recording(const struct options *o, const char *in, const char *path, char *damage,
                      size_t size, struct err *e);

#endif
