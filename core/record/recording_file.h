/*
 * Opens the file of a recording safely: another user who can create files in the same directory
 * must not be able to make us write to an unintended place.
 *
 * Context: any thread; blocks on the file.
 */
#ifndef JTOP_RECORD_RECORDING_FILE_H
#define JTOP_RECORD_RECORDING_FILE_H

#include <stdbool.h>

/* Opens a file for writing and empties it, with the rules of recording_create. `fresh`: an existing
 * file or link is an error. -1: errno is set, and *why if there is more to report. */
int recording_file_open(const char *path, bool fresh, const char **why);

#endif
