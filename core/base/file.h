/*
 * Small files, read whole. Opening does not wait for a pipe's other end, and takes no terminal.
 *
 * Context: frontend, any thread. file_read, file_read_at and file_line neither allocate nor lock: a
 * copy of a process that had other threads may use them.
 */
#ifndef JTOP_BASE_FILE_H
#define JTOP_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* What is left of it, at most size - 1 bytes, and a NUL behind. The length, or -errno. */
ssize_t file_read(int fd, char *out, size_t size);

/* The same of a path from the directory `dir`, or AT_FDCWD. `flags`: beside O_RDONLY. `out` is ""
 * where it fails. */
ssize_t file_read_at(int dir, const char *path, int flags, char *out, size_t size);

/* Its first line, without the newline. 0 or -errno. */
int file_line(const char *path, char *out, size_t size);

/* What is left of it, in memory that the caller frees, with a NUL behind. Stops at `most` bytes: then
 * there may be more. 0 or -errno, with *text NULL. */
int file_read_all(int fd, size_t most, char **text, size_t *length);

#endif
