/*
 * How much of the CPUs a process's control groups allow it, cgroup v1 and v2: the tightest quota of
 * its group and of those above it, and how often the process was throttled by that quota.
 * source: Linux Documentation/admin-guide/cgroup-v2.rst (cpu.max, cpu.stat),
 * Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us, cpu.cfs_period_us, cpu.stat),
 * proc_pid_mountinfo(5), cgroups(7)
 *
 *   /proc/PID/cgroup      4:cpu,cpuacct:/kubepods/pod1/web    or    0::/kubepods/pod1/web
 *   /proc/self/mountinfo  … /kubepods /sys/fs/cgroup/cpu … - cgroup cgroup rw,cpu,cpuacct
 *   together              /sys/fs/cgroup/cpu, pod1, pod1/web: each may have a quota
 *
 * The group is looked up in our own mounts. A group that is not visible there (it belongs to other
 * namespaces than ours) is looked up where the process has the file system mounted, through
 * /proc/PID/root. All of the text is treated as hostile: symbolic links are not followed, and no
 * directory is read that does not belong to the cgroup file system.
 *
 * Context: frontend only, any thread; small reads, no allocation.
 */
#ifndef JTOP_ATTACH_PROC_CGROUP_H
#define JTOP_ATTACH_PROC_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_PATH 1024 /* longer paths are not read */

struct cgroup_cpu {
    bool known;            /* a group with a CPU controller was found */
    double quota;          /* CPUs it may use: 1.5; 0: no limit */
    uint64_t periods;      /* scheduling periods since the group was created */
    uint64_t throttled;    /* periods in which it used up its quota */
    uint64_t throttled_ns; /* time it was stopped by its quota, summed over CPUs */
    char path[256];        /* the group that has the quota, for users; printable */
};

/* 0, or -errno if nothing can be read (then *out is all zero). */
int cgroup_cpu_read(pid_t pid, struct cgroup_cpu *out);

/* For repeated reads: the mount point stays open. */
struct cgroup {
    pid_t pid;
    int mount; /* O_PATH */
    bool lost; /* no mount was found */
    bool v2;
    char root[CGROUP_PATH]; /* the group at which the mount begins */
};
void cgroup_open(struct cgroup *g, pid_t pid);
int cgroup_read(struct cgroup *g, struct cgroup_cpu *out);
void cgroup_close(struct cgroup *g); /* may be called for one that is all zero or closed */

/* Parsers of the files' texts. False: the text has another format. */
bool cgroup_parse_max(const char *text, double *quota);           /* v2 cpu.max */
bool cgroup_parse_stat(const char *text, struct cgroup_cpu *out); /* both versions' cpu.stat */
/* v1 cpu.cfs_quota_us and cpu.cfs_period_us */
bool cgroup_parse_quota(const char *quota_us, const char *period_us, double *quota);
/* Finds the group in the text of /proc/PID/cgroup: that of v1's cpu controller if there is one. */
bool cgroup_parse_group(const char *text, bool *v2, char path[CGROUP_PATH]);
/* Parses a line of mountinfo; false also for a mount of another kind. */
bool cgroup_parse_mount(const char *line, bool v2, char root[CGROUP_PATH], char point[CGROUP_PATH]);
/* The part of the group `path` below the group `root`: "" if they are the same; NULL: not below. */
const char *cgroup_below(const char *root, const char *path);

#endif
