/*
 * Files:
 *   container     name of the container a process is in, from its control group
 *   hsperf        parser of HotSpot's performance data format (hsperfdata)
 *   java_args     parser of a java command line: main class, arguments, -XX flags
 *   jvm           struct for one JVM; listing all JVMs, finding one, live figures
 *   jvm_perf      search for a JVM's performance data, with a check that it is current
 *   perf_file     finding and copying of a JVM's hsperfdata file, with safety checks
 *   perf_values   figures taken from performance data: heap, GC, threads, versions
 *   process_list  processes of the machine that use much CPU or memory
 *
 * The JVMs on this machine: found through their performance data files (hsperfdata_USER/PID, in
 * every mount namespace visible through /proc/PID/root, and through the inner pid of a pid
 * namespace), and, without those, by a libjvm.so among a process's mapped files.
 *
 * Everything read here was written by somebody else's process: lengths and offsets are checked,
 * strings are bounded and control characters replaced, files are opened O_NOFOLLOW and must be
 * regular, nothing is trusted because of its name.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_FIND_JVM_H
#define JTOP_ATTACH_FIND_JVM_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jvm {
    pid_t pid;       /* in our pid namespace */
    pid_t inner_pid; /* in its own: names its attach files; equals pid outside containers */
    uid_t uid;       /* effective, of the process */
    gid_t gid;
    char user[64];  /* name of uid, or the number */
    char name[256]; /* main class or jar file's base name, as jps -l's first word; never empty */
    char arguments[512]; /* the program's arguments as far as known */
    char version[96];    /* java.vm.version, e.g. 17.0.15+6-Debian-1deb12u1 */
    char vm_name[96];    /* OpenJDK 64-Bit Server VM */
    bool perf_data;      /* an hsperfdata file was found and valid */
    bool container;      /* another mount or pid namespace than ours */
    bool closed;         /* may not be looked into: a JVM by its command line (jvm_list_all) */
    /* live figures; see jvm_refresh */
    uint64_t uptime_ms;
    double cpu_percent; /* of one core, since the last refresh of the same struct (since its
                           start, at first) */
    uint64_t rss_bytes;
    uint64_t heap_used_bytes, heap_capacity_bytes, heap_max_bytes; /* 0: not known */
    uint64_t gc_count, gc_time_ms;                                 /* all collectors together */
    uint64_t safepoint_count, safepoint_time_ms;
    uint64_t classes_loaded;
    uint32_t threads;
    /* inner state of jvm_refresh */
    uint64_t cpu_ticks_before, time_ns_before;
    uint64_t start_ticks; /* when it started, in clock ticks after boot: tells a reused pid */
};

/* All JVMs, sorted by pid; `*out` is malloc'ed, the caller frees it. Processes that may not be
 * looked into are left out. Returns their number or -errno. */
int jvm_list(struct jvm **out, struct err *e);
/* Same; those left out there follow in their places, where their command line is java's. */
int jvm_list_all(struct jvm **out, struct err *e);

/* One process. Fails with a message that says what was checked: no such process (-ESRCH), not a
 * JVM (-EINVAL), not permitted (-EACCES, with both uids). */
int jvm_inspect(pid_t pid, struct jvm *out, struct err *e);

/* Which JVM a person means: a number, "jps" (the only one; else the error lists them), a main
 * class (with or without package) or jar name, or a part of one that fits just one. */
int jvm_find(const char *what, struct jvm *out, struct err *e);

/* Reads the live figures again. -ESRCH: the process is gone (or is another one by now). */
int jvm_refresh(struct jvm *j);

#endif
