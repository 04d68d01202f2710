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
 * must be regular, must not be reached through a symbolic link, and must belong to uid or root; so
 * must its directory. Tries hsperfdata_`user` first and then, with `search`, all other hsperfdata_*
 * directories, because in a container the uid may have another name. Returns the size, or -errno:
 * -ENOENT if there is no such file, -EACCES if the process may not be inspected. `own_tmp`: search
 * our own /tmp instead of the one in /proc/PID/root. */
ssize_t perf_file_read(pid_t pid, pid_t inner_pid, uid_t uid, const char *user, bool search,
                       bool own_tmp, void **data);

#endif
