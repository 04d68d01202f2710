/*
 * The processes that use much of a machine: of a processor, or of memory. From two looks at /proc.
 *
 * Context: frontend only, one thread at a time.
 */
#ifndef JTOP_ATTACH_FIND_PROCESS_LIST_H
#define JTOP_ATTACH_FIND_PROCESS_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_LIST_MAX 5000 /* more are not looked at */

struct process_sample {
    pid_t pid, parent;
    char name[16];      /* printable */
    char command[1024]; /* arguments with blanks between; cut; "" where it may not be seen */
    uid_t uid;          /* effective */
    char state;         /* R S D T Z … as in proc(5) */
    uint64_t start_ms;  /* time of day */
    double user_s, system_s;
    double share; /* of one processor, since the last look; 1: all of it */
    uint32_t threads;
    uint64_t size, resident, anonymous, files, shared; /* bytes of memory */
    uint64_t minor_faults, major_faults;
    uint64_t read, written; /* bytes of the disks; 0 where it may not be seen */
};

struct process_list {
    int proc; /* directory of the /proc that is looked at */
    struct process_known {
        pid_t pid;
        uint64_t start_ticks, cpu_ticks;
    } * known; /* sorted by pid */
    int count;
    uint64_t looked_ns;
};

/* The processes that `jvm` sees, or that we see where its /proc may not be looked at. 0 or -errno. */
int process_list_open(struct process_list *l, pid_t jvm);
void process_list_close(struct process_list *l);

/* Looks, and tells of those with a twentieth of a processor or of the memory at least. Nothing is
 * told of a process that was not there at the last look. 0 or -errno. */
int process_list_look(struct process_list *l,
                      void (*tell)(void *arg, const struct process_sample *s), void *arg);

#endif
