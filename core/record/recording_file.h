/*
 * The file of a recording's name, opened so that nobody who may put things beside ours has us write
 * where we did not mean to.
 *
 * Context: any thread; blocks on the file.
 */
#ifndef JTOP_RECORD_RECORDING_FILE_H
#define JTOP_RECORD_RECORDING_FILE_H

#include <stdbool.h>

/* For writing, emptied; as recording_create says of names. `fresh`: what is there already is an
 * error, a link too. -1: errno, and *why where there is more to say. */
int recording_file_open(const char *path, bool fresh, const char **why);

#endif
