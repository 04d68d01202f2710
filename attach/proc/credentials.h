/*
 * Taking on a JVM's uid and gid, in a child made for that (errand.h, the attach helper): for good.
 * No capability is kept that the JVM has not, root or not.
 *
 * Context: a single-threaded copy of a process that may have had threads; neither allocates nor
 * locks.
 */
#ifndef JTOP_ATTACH_PROC_CREDENTIALS_H
#define JTOP_ATTACH_PROC_CREDENTIALS_H

#include <sys/types.h>

/* `pid`: the JVM. 0, also where they are ours already; or -errno: what we may not become. */
int credentials_take(pid_t pid, uid_t uid, gid_t gid);

/* The same for what is done with files, and no more: so that this user may not signal who does
 * it. */
int credentials_take_for_files(uid_t uid, gid_t gid);

#endif
