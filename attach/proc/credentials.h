/*
 * Takes on a JVM's uid and gid for good, in a child made for that (errand.h, the attach helper).
 * The child keeps no capability that the JVM does not have, root or not.
 *
 * Context: a single-threaded copy of a process that may have had threads; neither allocates nor
 * locks.
 */
#ifndef JTOP_ATTACH_PROC_CREDENTIALS_H
#define JTOP_ATTACH_PROC_CREDENTIALS_H

#include <sys/types.h>

/* `pid`: the JVM. 0, also if the ids are ours already; or -errno: the change was refused. */
int credentials_take(pid_t pid, uid_t uid, gid_t gid);

/* The same for file accesses only, so that this user may not signal this process. */
int credentials_take_for_files(uid_t uid, gid_t gid);

#endif
