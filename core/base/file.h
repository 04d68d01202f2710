/*
 * Small files, read whole. Opening does not wait for a pipe's other end, and takes no terminal.
 *
 * Context: frontend, any thread. file_read, file_read_at and file_line neither allocate nor lock:
 * the child of a fork in a process with several threads may use them.
 */
#ifndef JTOP_BASE_FILE_H
#define JTOP_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Reads the rest of the file, at most size - 1 bytes, and adds a NUL. Returns the length or
 * -errno. */
ssize_t file_read(int fd, char *out, size_t size);

/* The same for a path relative to the directory `dir`, or AT_FDCWD. `flags`: in addition to
 * O_RDONLY. `out` is "" where it fails. */
ssize_t file_read_at(int dir, const char *path, int flags, char *out, size_t size);

/* Reads the file's first line, without the newline. Returns 0 or -errno. */
int file_line(const char *path, char *out, size_t size);

/* Reads the rest of the file into memory that the caller frees, and adds a NUL. Stops at `most`
 * bytes: there may then be more. Returns 0, or -errno with *text NULL. */
int file_read_all(int fd, size_t most, char **text, size_t *length);

#endif
