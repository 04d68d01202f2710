/*
 * Files:
 *   cgroup             CPU quota and throttling of a process's control groups (v1, v2)
 *   credentials        switching a child process to the JVM's uid, gid and capabilities
 *   errand             running a function in a child process, with a result and a deadline
 *   inside             opening files as another process sees them, below its root
 *   proc               bounded reads from /proc/PID: stat, status, memory use, mapped JVM
 *   process_libraries  libraries and programs a process has mapped
 *   process_maps       C library, VM and other profilers found in /proc/PID/maps
 *   process_status     rights, signals and state of a process from /proc/PID/status
 *   thread_stat        threads of a process: name, state, CPU time, from /proc
 *   tmp_dir            descriptor of a process's own /tmp
 *
 * What the kernel reports about a process: small, bounded reads from /proc.
 *
 * Context: any thread. Nothing here allocates or locks, because the attach helper uses it too, a
 * copy of a process that may have had other threads.
 */
#ifndef JTOP_ATTACH_PROC_PROC_H
#define JTOP_ATTACH_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
    char comm[16]; /* printable */
    char state;
    uint64_t cpu_ticks;   /* user + system, in clock ticks */
    uint64_t start_ticks; /* since boot: identifies a process for good, together with the pid */
    uint32_t threads;
};

struct proc_status {
    pid_t tgid;
    pid_t inner_pid;    /* in the innermost pid namespace */
    bool pid_namespace; /* it has another pid namespace than ours */
    uid_t uid;          /* effective */
    gid_t gid;
    bool catches_quit; /* SIGQUIT has a handler: it does not kill */
    bool quit_pends;   /* a SIGQUIT was sent to it and is still pending */
};

/* Reads at most cap - 1 bytes of /proc/PID/FILE and adds a NUL. Returns the length or -errno. */
ssize_t proc_read(pid_t pid, const char *file, char *buf, size_t cap);

/* Parses the text of a stat file; -EPROTO if it is not one. */
int proc_stat_parse(const char *text, struct proc_stat *out);

/* 0 or -errno: -ESRCH if there is no such process. */
int proc_stat(pid_t pid, struct proc_stat *out);
int proc_status(pid_t pid, struct proc_status *out);

uint64_t proc_rss_bytes(pid_t pid); /* 0: not known */

/* Time since the process started, from start_ticks. */
uint64_t proc_age_ms(uint64_t start_ticks);
uint64_t proc_ticks_to_ns(uint64_t ticks);
uint64_t proc_now_ns(void); /* monotonic */

/* Whether the process is in another mount namespace; false if that cannot be seen. */
bool proc_other_mounts(pid_t pid);

/* Whether a JVM is in the process: libjvm.so, or its own performance data, is among the mapped
 * files. 1, 0, or -errno (-EACCES: may not be read). */
int proc_maps_jvm(pid_t pid);
/* The same for Eclipse OpenJ9, whose libjvm.so only leads to libj9vm. */
int proc_maps_j9(pid_t pid);

#endif
