/*
 * What the kernel reports about a process's threads: /proc/PID/task/TID/stat.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_PROC_THREAD_STAT_H
#define JTOP_ATTACH_PROC_THREAD_STAT_H

#include <stdint.h>
#include <sys/types.h>

struct thread_stat {
    uint32_t tid;    /* in our pid namespace, or in the process's own */
    uint32_t outer;  /* in our pid namespace */
    char comm[16];   /* the kernel's name, control characters replaced */
    char state;      /* R S D T Z … as in proc(5) */
    uint64_t cpu_ns; /* user + system time so far */
    uint64_t start_ticks;
};

/* Lists all threads of the process, sorted by tid; `*out` is malloc'ed, the caller frees it.
 * Returns their number or -errno. */
int thread_stat_list(pid_t pid, struct thread_stat **out);

/* The threads' numbers in their own pid namespace, kept from one list to the next, so that each is
 * looked up once. All zero at first. */
struct thread_numbers {
    struct thread_number {
        uint32_t outer, inner;
        uint64_t start_ticks;
    } * number; /* sorted by outer */
    int count;
};
/* The same with the tids of the process's own pid namespace, sorted by those. Leaves out threads
 * whose number there cannot be read. */
int thread_stat_list_inside(pid_t pid, struct thread_numbers *known, struct thread_stat **out);
void thread_numbers_free(struct thread_numbers *n);

#endif
