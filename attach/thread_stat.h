/*
 * What the kernel says of a process's threads: /proc/PID/task/TID/stat.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_THREAD_STAT_H
#define JTOP_ATTACH_THREAD_STAT_H

#include <stdint.h>
#include <sys/types.h>

struct thread_stat {
    uint32_t tid;    /* in our pid namespace */
    char comm[16];   /* kernel's name, control characters replaced */
    char state;      /* R S D T Z … as in proc(5) */
    uint64_t cpu_ns; /* user + system time so far */
};

/* All threads of the process, sorted by tid; `*out` is malloc'ed, the caller frees it.
 * Returns their number or -errno. */
int thread_stat_list(pid_t pid, struct thread_stat **out);

#endif
