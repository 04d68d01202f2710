/*
 * What /proc/PID/status reports about a process's rights, signals and state.
 *
 * Context: any thread; neither allocates nor locks.
 */
#ifndef JTOP_ATTACH_PROC_PROCESS_STATUS_H
#define JTOP_ATTACH_PROC_PROCESS_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CAPABILITY_SETUID 7
#define CAPABILITY_IPC_LOCK 14
#define CAPABILITY_SYS_PTRACE 19
#define CAPABILITY_SYS_ADMIN 21
#define CAPABILITY_PERFMON 38

/* A value that the kernel does not report is 0; or -1 where that is noted. */
struct process_status {
    char state; /* R S D T t Z X; '?': not reported */
    pid_t tracer;
    uid_t uid; /* effective */
    gid_t gid;
    uint32_t threads;
    uint64_t blocked, ignored, caught; /* signal sets; `blocked` is the main thread's */
    uint64_t capabilities;             /* effective */
    int seccomp;                       /* 0 none, 1 strict, 2 a filter; -1: not reported */
    int no_new_privs;                  /* -1: not reported */
};

/* False: the text has another format. */
bool process_status_parse(const char *text, struct process_status *out);
int process_status_read(pid_t pid, struct process_status *out); /* 0 or -errno */

static inline bool process_status_has(uint64_t set, int number) {
    return set >> number & 1;
}
static inline bool process_status_signal(uint64_t set, int number) {
    return number > 0 && set >> (number - 1) & 1;
}

#endif
