/*
 * Whether a JVM listens for attach requests, even if the name of its socket is gone: a cleaner of
 * /tmp may have removed it. Then nobody can connect although the socket is open.
 * source: attachListener_linux.cpp / attachListener_posix.cpp, JDK 8-28: the socket is bound to
 * .java_pidN.tmp, which is renamed to .java_pidN when it listens; proc_pid_net(5), unix
 *
 * Context: any thread; neither allocates nor locks (the attach helper uses it).
 */
#ifndef JTOP_ATTACH_LOAD_LISTENER_H
#define JTOP_ATTACH_LOAD_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether the JVM listens, by /proc/PID/net/unix and, if they are readable, by its own
 * descriptors. */
bool listener_is_open(pid_t pid, pid_t inner_pid);

/* Parses a line of /proc/PID/net/unix: returns the inode number of a listening socket with that
 * name; else 0. */
uint64_t listener_line(const char *line, pid_t inner_pid);

/* Whether a JVM of this java.vm.version creates a new socket if it is asked again after the
 * socket's name was removed: 8u332, 11.0.13, 14 and later do (JDK-8225690). An earlier one would
 * print a thread dump. True if the version is not known. */
bool listener_is_renewed(const char *vm_version);

#endif
