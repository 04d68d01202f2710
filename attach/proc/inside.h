/*
 * Files as a process sees them: paths are looked up inside its root, whatever its symbolic links
 * say.
 *
 * Context: any thread; neither allocates nor locks (errands use it).
 */
#ifndef JTOP_ATTACH_PROC_INSIDE_H
#define JTOP_ATTACH_PROC_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens the directory /proc/PID/FILE ("root", "cwd"). Returns an O_PATH descriptor, or -errno. */
int inside_enter(pid_t pid, const char *file);

/* Opens `path` (with or without a leading '/') inside `root`. `flags` are further flags of open,
 * such as O_DIRECTORY. A symbolic link never leads out of the root; those of /proc itself are not
 * followed. Returns an O_PATH descriptor, or -errno. */
int inside_open(int root, const char *path, int flags);

/* Opens the file of an O_PATH descriptor for reading, and closes that descriptor. Accepts only a
 * regular file, because opening a device or a FIFO may have effects. A negative `fd` is returned as
 * it is. Or -errno (-EINVAL: not a regular file). */
int inside_read(int fd);

/* The path of a directory as seen from `root`: absolute, without symbolic links, checked to lead to
 * the same directory there. 0; -ENOENT: there is no such path; -ENAMETOOLONG. */
int inside_path(int root, int dir, char *out, size_t size);

/* Whether the process has its own pid namespace, but still the /proc of one above it. Then the pids
 * in that /proc are not those of its own namespace. */
bool inside_others_proc(pid_t pid);

#endif
