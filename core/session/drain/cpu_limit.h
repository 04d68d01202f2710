/*
 * What a JVM may use of the CPUs, and how often that stops it: looked at about once a second.
 *
 * Context: the session's drain thread.
 */
#ifndef JTOP_SESSION_DRAIN_CPU_LIMIT_H
#define JTOP_SESSION_DRAIN_CPU_LIMIT_H

#include "attach/proc/cgroup.h"
#include "core/session/session.h"

/* All zero at first. */
struct cpu_limit {
    struct cgroup group;          /* pid 0: not opened yet */
    struct cgroup_cpu first, now; /* when counting began, and at the last look */
};

/* Looks. False: nothing can be known; *out is as it was. */
bool cpu_limit_look(struct cpu_limit *l, pid_t pid, struct session_cpu *out);
/* The same, of a reading. */
void cpu_limit_count(struct cpu_limit *l, const struct cgroup_cpu *now, struct session_cpu *out);
void cpu_limit_end(struct cpu_limit *l);

#endif
