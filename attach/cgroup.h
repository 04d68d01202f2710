/*
 * What a process's control groups let it have of the CPUs, cgroup v1 and v2: the tightest quota
 * of its group and those above it, and how often that stopped it.
 * source: Linux Documentation/admin-guide/cgroup-v2.rst (cpu.max, cpu.stat),
 * Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us, cpu.cfs_period_us, cpu.stat)
 *
 * Looked up from where we are (/proc/PID/cgroup gives paths below our own group's root); where that
 * cannot be seen, through /proc/PID/root. All of it is hostile text.
 *
 * Context: frontend only, any thread; small reads, no allocation.
 */
#ifndef JTOP_ATTACH_CGROUP_H
#define JTOP_ATTACH_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_cpu {
    bool known;            /* a group with a CPU controller was found */
    double quota;          /* CPUs it may use: 1.5; 0: no limit */
    uint64_t periods;      /* since the group was made … */
    uint64_t throttled;    /* … of them, those in which it ran out of its quota */
    uint64_t throttled_ns; /* time it stood still for that, summed over CPUs */
    char path[256];        /* the group that has the quota, for people; printable */
};

/* 0, or -errno where nothing can be read (*out is all zero then). */
int cgroup_cpu_read(pid_t pid, struct cgroup_cpu *out);

/* The parts, over the texts of the files. False: not such a text. */
bool cgroup_parse_max(const char *text, double *quota);           /* v2 cpu.max */
bool cgroup_parse_stat(const char *text, struct cgroup_cpu *out); /* both versions' cpu.stat */

#endif
