/*
 * A process's own /tmp, where HotSpot keeps its performance data and its attach socket whatever
 * java.io.tmpdir or TMPDIR say. In a container it is another directory than ours.
 *
 * Context: any thread; neither allocates nor locks (the attach helper uses it).
 */
#ifndef JTOP_ATTACH_PROC_TMP_DIR_H
#define JTOP_ATTACH_PROC_TMP_DIR_H

#include <sys/types.h>

/* An O_PATH descriptor of the directory, looked up through /proc/PID/root; a symbolic link is
 * resolved inside the process's root, not ours. -errno: -EACCES where the process may not be
 * looked into. */
int tmp_dir_open(pid_t pid);

#endif
