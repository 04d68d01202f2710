/*
 * Why a process does nothing although it lives: somebody stopped it.
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
    STANDSTILL_TRACED,  /* by a debugger, which holds it */
    STANDSTILL_FROZEN,  /* with its control group: docker pause, systemctl freeze */
};

/* *tracer (may be NULL): the process that debugs it, 0 where there is none or it is in another pid
 * namespace. STANDSTILL_NONE also for a process that is gone. */
enum standstill standstill_of(pid_t pid, pid_t *tracer);

/* The file that says whether the group is frozen, of a line of /proc/PID/cgroup; false: of none, or
 * of one that cannot be seen from here. */
bool standstill_file(const char *line, char *out, size_t cap);

#endif
