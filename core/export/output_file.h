/*
 * A file that appears complete or not at all: written under a temporary name in the directory it
 * belongs in, then renamed. What stands there already is replaced only by the rename; a symbolic
 * link is replaced, not followed, because whoever planted it is not who asked for the file.
 *
 * Terminals, /dev/null, pipes, /dev/stdout and the like are written to directly.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_EXPORT_OUTPUT_FILE_H
#define JTOP_EXPORT_OUTPUT_FILE_H

#include "core/base/err.h"

#include <stddef.h>

struct output_file {
    const char *path; /* the caller's; must outlive the struct */
    int dir;          /* the directory; -1: written to directly */
    int fd;
    const char *base; /* the last part of path */
    char temp[64];    /* the name of the file for now; "" when it is not there */
    size_t written;   /* bytes, so far */
    size_t whole;     /* bytes it will have, for who is told that the disk is full; 0: not known */
    int exit_code;    /* enum err_exit for failures */
};

/* Gets everything ready for writing. On failure nothing is left behind. -EISDIR: path is a
 * directory; -ENOENT, -EACCES, -EROFS …: about the directory. */
int output_file_open(struct output_file *f, const char *path, enum err_exit exit_code,
                     struct err *e);
/* Whether that would succeed. Opens no pipe, and leaves nothing behind. */
int output_file_check(const char *path, enum err_exit exit_code, struct err *e);
/* Writes all of it behind what was written before, or fails. The file must then be aborted. */
int output_file_write(struct output_file *f, const char *data, size_t len, struct err *e);
/* Makes it appear. The struct is done with, whatever the answer. */
int output_file_commit(struct output_file *f, struct err *e);
/* Leaves things as before output_file_open. */
void output_file_abort(struct output_file *f);

#endif
