/*
 * What a process's control groups let it have of the CPUs, cgroup v1 and v2: the tightest quota
 * of its group and those above it, and how often that stopped it.
 * source: Linux Documentation/admin-guide/cgroup-v2.rst (cpu.max, cpu.stat),
 * Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us, cpu.cfs_period_us, cpu.stat),
 * proc_pid_mountinfo(5), cgroups(7)
 *
 *   /proc/PID/cgroup      4:cpu,cpuacct:/kubepods/pod1/web    or    0::/kubepods/pod1/web
 *   /proc/self/mountinfo  … /kubepods /sys/fs/cgroup/cpu … - cgroup cgroup rw,cpu,cpuacct
 *   together              /sys/fs/cgroup/cpu, pod1, pod1/web: each may have a quota
 *
 * Looked up from where we are; what cannot be seen from there (a group of other namespaces than
 * ours) where the process has the file system mounted, through /proc/PID/root. All of it is hostile
 * text: symbolic links are not followed, and no directory is read that is not of the cgroup file
 * system.
 *
 * Context: frontend only, any thread; small reads, no allocation.
 */
#ifndef JTOP_ATTACH_PROC_CGROUP_H
#define JTOP_ATTACH_PROC_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_PATH 1024 /* longer ones are not looked at */

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

/* The same again and again: the mount point stays open. */
struct cgroup {
    pid_t pid;
    int mount; /* O_PATH */
    bool lost; /* there is none to be found */
    bool v2;
    char root[CGROUP_PATH]; /* where in the hierarchy the mount begins */
};
void cgroup_open(struct cgroup *g, pid_t pid);
int cgroup_read(struct cgroup *g, struct cgroup_cpu *out);
void cgroup_close(struct cgroup *g); /* fine for one that was all zero or is closed */

/* The parts, over the texts of the files. False: not such a text. */
bool cgroup_parse_max(const char *text, double *quota);           /* v2 cpu.max */
bool cgroup_parse_stat(const char *text, struct cgroup_cpu *out); /* both versions' cpu.stat */
/* v1 cpu.cfs_quota_us and cpu.cfs_period_us */
bool cgroup_parse_quota(const char *quota_us, const char *period_us, double *quota);
/* The group in a /proc/PID/cgroup: that of v1's cpu controller where it has one. */
bool cgroup_parse_group(const char *text, bool *v2, char path[CGROUP_PATH]);
/* A line of mountinfo: false also where it is a mount of something else. */
bool cgroup_parse_mount(const char *line, bool v2, char root[CGROUP_PATH], char point[CGROUP_PATH]);
/* What is left of the path of a group below that of another, "" for the same; NULL: not below. */
const char *cgroup_below(const char *root, const char *path);

#endif
