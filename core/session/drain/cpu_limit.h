/*
 * The CPU quota of a JVM, and how often it throttles the JVM: read about once a second.
 *
 * Context: the session's drain thread.
 */
#ifndef JTOP_SESSION_DRAIN_CPU_LIMIT_H
#define JTOP_SESSION_DRAIN_CPU_LIMIT_H

#include "attach/proc/cgroup.h"
#include "core/session/session.h"

/* Initially all zeroes. */
struct cpu_limit {
    struct cgroup group;          /* pid 0: not opened yet */
    struct cgroup_cpu first, now; /* counters at the start, and at the last reading */
};

/* Reads the number of processors, and the counters. False: the counters cannot be read, and their
 * part of *out is unchanged. */
bool cpu_limit_look(struct cpu_limit *l, pid_t pid, struct session_cpu *out);
/* Counts a given reading; out->processors is kept. */
void cpu_limit_count(struct cpu_limit *l, const struct cgroup_cpu *now, struct session_cpu *out);
void cpu_limit_end(struct cpu_limit *l);

#endif
