/*
 * The processes that use much of the machine's processors or memory, computed from two polls of
 * /proc.
 *
 * Context: frontend only, one thread at a time.
 */
#ifndef JTOP_ATTACH_FIND_PROCESS_LIST_H
#define JTOP_ATTACH_FIND_PROCESS_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_LIST_MAX 5000 /* further ones are not read */

struct process_sample {
    pid_t pid, parent;
    char name[16];      /* printable */
    char command[1024]; /* arguments separated by blanks, cut to size; "" if not readable */
    uid_t uid;          /* effective */
    char state;         /* R S D T Z … as in proc(5) */
    uint64_t start_ms;  /* time of day */
    double user_s, system_s;
    double share; /* of one processor, since the last poll; 1: all of it */
    uint32_t threads;
    uint64_t size, resident, anonymous, files, shared; /* bytes of memory */
    uint64_t minor_faults, major_faults;
    uint64_t read, written; /* bytes, from and to disks; 0 if not readable */
};

struct process_list {
    int proc; /* descriptor of the /proc directory that is polled */
    struct process_known {
        pid_t pid;
        uint64_t start_ticks, cpu_ticks;
    } * known; /* sorted by pid */
    int count;
    uint64_t looked_ns;
};

/* Opens the list of the processes that `jvm` sees; if its /proc may not be read, of those that we
 * see. 0 or -errno. */
int process_list_open(struct process_list *l, pid_t jvm);
void process_list_close(struct process_list *l);

/* Polls /proc and calls `tell` for each process that uses at least a twentieth of a processor or of
 * the memory. A process that was not in the previous poll is left out. 0 or -errno. */
int process_list_look(struct process_list *l,
                      void (*tell)(void *arg, const struct process_sample *s), void *arg);

#endif
