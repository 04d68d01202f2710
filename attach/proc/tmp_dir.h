/*
 * A process's own /tmp. HotSpot keeps its performance data and its attach socket there, whatever
 * java.io.tmpdir or TMPDIR say. In a container it is another directory than ours.
 *
 * Context: any thread; neither allocates nor locks (the attach helper uses it).
 */
#ifndef JTOP_ATTACH_PROC_TMP_DIR_H
#define JTOP_ATTACH_PROC_TMP_DIR_H

#include <sys/types.h>

/* Opens the directory through /proc/PID/root; a symbolic link is resolved inside the process's
 * root, not ours. Returns an O_PATH descriptor, or -errno: -EACCES if the process may not be
 * inspected. */
int tmp_dir_open(pid_t pid);

#endif
