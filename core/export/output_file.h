/*
 * An output file that appears complete or not at all. It is written under a temporary name in its
 * target directory, then renamed. Only the rename replaces an existing file. A symbolic link is
 * replaced, not followed, because another user may have planted it.
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
    const char *path; /* belongs to the caller; must outlive the struct */
    int dir;          /* the directory; -1: the file is written to directly */
    int fd;
    const char *base; /* the last part of path */
    char temp[64];    /* current name of the file; "" if there is no temporary file */
    size_t written;   /* bytes written so far */
    size_t whole;     /* final size in bytes, for the message that the disk is full; 0: not known */
    int exit_code;    /* enum err_exit used for failures */
};

/* Prepares the file for writing. On failure nothing is left behind. -EISDIR: the path is a
 * directory. -ENOENT, -EACCES, -EROFS …: errors of the directory. */
int output_file_open(struct output_file *f, const char *path, enum err_exit exit_code,
                     struct err *e);
/* Reports whether output_file_open would succeed. Does not open a pipe, and leaves
 * nothing behind. */
int output_file_check(const char *path, enum err_exit exit_code, struct err *e);
/* Appends all of `data`, or fails. After a failure the caller must abort the file. */
int output_file_write(struct output_file *f, const char *data, size_t len, struct err *e);
/* Gives the file its final name. The struct must not be used afterwards, whatever the result. */
int output_file_commit(struct output_file *f, struct err *e);
/* Restores the state before output_file_open. */
void output_file_abort(struct output_file *f);

#endif
