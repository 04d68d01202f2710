/*
 * Why a process that lives does nothing: another process stopped it.
 * source: Linux Documentation/filesystems/proc.rst (stat, status), admin-guide/cgroup-v2.rst
 * (cgroup.events), cgroup-v1/freezer-subsystem.rst (freezer.state)
 *
 * Context: any thread; small reads; neither allocates nor locks (the attach helper uses it).
 */
#ifndef JTOP_ATTACH_LOAD_STANDSTILL_H
#define JTOP_ATTACH_LOAD_STANDSTILL_H

#include <stdbool.h>
#include <sys/types.h>

enum standstill {
    STANDSTILL_NONE,
    STANDSTILL_STOPPED, /* by a signal: SIGSTOP, Ctrl-Z */
    STANDSTILL_TRACED,  /* held by a debugger */
    STANDSTILL_FROZEN,  /* frozen with its control group: docker pause, systemctl freeze */
};

/* *tracer (may be NULL): the process that debugs it; 0 if there is none or it is in another pid
 * namespace. A process that has ended is STANDSTILL_NONE too. */
enum standstill standstill_of(pid_t pid, pid_t *tracer);

/* Takes a line of /proc/PID/cgroup and writes the path of the file that says whether that group is
 * frozen. False: there is none, or it is not visible from here. */
bool standstill_file(const char *line, char *out, size_t cap);

#endif
