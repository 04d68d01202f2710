/*
 * Finds and copies a JVM's performance data file, /tmp/hsperfdata_USER/PID as the JVM sees it.
 *
 * Context: any thread.
 */
#ifndef JTOP_ATTACH_FIND_PERF_FILE_H
#define JTOP_ATTACH_FIND_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Copies the file of the process into malloc'ed memory, *data, which the caller frees. The file
 * must be regular, not reached through a symbolic link, and owned by uid or root, and so must its
 * directory. `user` is tried as USER first; with `search`, all hsperfdata_* directories are (the
 * name of the uid may be another inside a container). Returns the size, or -errno: -ENOENT where
 * there is none, -EACCES where the process may not be looked into.
 * `own_tmp`: look in our own /tmp, not through /proc/PID/root. */
ssize_t perf_file_read(pid_t pid, pid_t inner_pid, uid_t uid, const char *user, bool search,
                       bool own_tmp, void **data);

#endif
