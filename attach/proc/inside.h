/*
 * Files as a process sees them: paths looked up inside its root, whatever its symbolic links say.
 *
 * Context: any thread; neither allocates nor locks (errands use it).
 */
#ifndef JTOP_ATTACH_PROC_INSIDE_H
#define JTOP_ATTACH_PROC_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* An O_PATH descriptor of /proc/PID/FILE ("root", "cwd"), a directory. Or -errno. */
int inside_enter(pid_t pid, const char *file);

/* An O_PATH descriptor of `path` (with or without a leading '/') inside `root`; `flags` are more of
 * open's, such as O_DIRECTORY. A symbolic link never leads out, and one of /proc's own is not
 * followed. Or -errno. */
int inside_open(int root, const char *path, int flags);

/* Opens for reading what an O_PATH descriptor stands for, and closes that; only a regular file: to open
 * a device or a FIFO may do something, whoever rules the directory it is in. A negative `fd` is
 * handed on. Or -errno (-EINVAL: no regular file). */
int inside_read(int fd);

/* Where a directory is, seen from `root`: an absolute path without symbolic links, by which it is
 * found again there. 0; -ENOENT: there is no such path; -ENAMETOOLONG. */
int inside_path(int root, int dir, char *out, size_t size);

/* Whether the process has a pid namespace of its own and still the /proc of one above it: then the
 * numbers it finds there are none of its own. */
bool inside_others_proc(pid_t pid);

#endif
