/*
 * Converts any readable file into a recording of ours (".jtop"), record by record. Nothing is lost,
 * except what -e, --from and --to leave out.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_CONVERT_RECORDING_H
#define JTOP_TUI_CLI_COMMAND_CONVERT_RECORDING_H

#include "tui/cli/option/options.h"

/* True if a file's name stands for a recording. */
bool convert_is_recording(const char *path);

/* -EINVAL, exit code 100: these options select what a recording cannot leave out. */
int convert_check_recording(const struct options *o, const char *path, struct err *e);

/* The file appears only when it is complete. If `in` is damaged, a warning line is written to
 * `damage`. */
int convert_recording(const struct options *o, const char *in, const char *path, char *damage,
                      size_t size, struct err *e);

#endif
