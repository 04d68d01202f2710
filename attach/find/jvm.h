/*
 * Files:
 *   container     name of the container a process is in, from its control group
 *   hsperf        parser of HotSpot's performance data format (hsperfdata)
 *   java_args     parser of a java command line: main class, arguments, -XX flags
 *   jvm           struct for one JVM; listing all JVMs, finding one, live figures
 *   jvm_perf      search for a JVM's performance data, with a check that it is current
 *   no_access     which right is missing where a process may not be inspected
 *   perf_file     finding and copying of a JVM's hsperfdata file, with safety checks
 *   perf_values   figures taken from performance data: heap, GC, threads, versions
 *   process_list  processes of the machine that use much CPU or memory
 *
 * The JVMs on this machine. They are found by their performance data files (hsperfdata_USER/PID),
 * in every mount namespace that is visible through /proc/PID/root; in a pid namespace, PID is the
 * inner pid. A JVM without such a file is found by a libjvm.so among its mapped files.
 *
 * Other processes wrote everything that is read here: lengths and offsets are checked, strings are
 * bounded and control characters replaced. Files are opened O_NOFOLLOW and must be regular. Nothing
 * is trusted because of its name.
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
    pid_t inner_pid; /* in its pid namespace: names its attach files; pid outside containers */
    uid_t uid;       /* effective uid of the process */
    gid_t gid;
    char user[64];  /* name of uid, or its number */
    char name[256]; /* main class or jar file's base name, as jps -l's first word; never empty */
    char arguments[512]; /* the program's arguments, as far as they are known */
    char version[96];    /* java.vm.version, e.g. 17.0.15+6-Debian-1deb12u1 */
    char vm_name[96];    /* OpenJDK 64-Bit Server VM */
    bool perf_data;      /* an hsperfdata file was found and valid */
    bool container;      /* another mount or pid namespace than ours */
    bool closed;         /* may not be inspected; its command line is java's (jvm_list_all) */
    /* live figures; see jvm_refresh */
    uint64_t uptime_ms;
    double cpu_percent; /* of one core, since the last refresh of this struct (the first time: since
                           the JVM's start) */
    uint64_t rss_bytes;
    uint64_t heap_used_bytes, heap_capacity_bytes, heap_max_bytes; /* 0: not known */
    uint64_t gc_count, gc_time_ms;                                 /* of all collectors together */
    uint64_t safepoint_count, safepoint_time_ms;
    uint64_t classes_loaded;
    uint32_t threads;
    /* private state of jvm_refresh */
    uint64_t cpu_ticks_before, time_ns_before;
    uint64_t start_ticks; /* start time in clock ticks after boot: detects a reused pid */
};

/* Lists all JVMs, sorted by pid; `*out` is malloc'ed, the caller frees it. Leaves out processes
 * that may not be inspected. Returns their number or -errno. */
int jvm_list(struct jvm **out, struct err *e);
/* The same, but includes processes that may not be inspected and whose command line is java's, also
 * sorted by pid. */
int jvm_list_all(struct jvm **out, struct err *e);

/* Reads one process. The error message says what was checked: no such process (-ESRCH), not a JVM
 * (-EINVAL), not permitted (-EACCES, with both uids). */
int jvm_inspect(pid_t pid, struct jvm *out, struct err *e);

/* Finds the JVM that a user names: by a number; by "jps" (the only JVM; if there are several, the
 * error lists them); by a main class (with or without package) or jar name; or by a part of one
 * that matches a single JVM. */
int jvm_find(const char *what, struct jvm *out, struct err *e);

/* Updates the live figures. -ESRCH: the process has ended, or its pid belongs to another one
 * now. */
int jvm_refresh(struct jvm *j);

#endif
