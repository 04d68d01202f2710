/*
 * The mapped files of a process that decide whether the agent can be loaded there: which libc,
 * which VM, other profilers.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_PROC_PROCESS_MAPS_H
#define JTOP_ATTACH_PROC_PROCESS_MAPS_H

#include <stdbool.h>
#include <sys/types.h>

#define PROCESS_MAPS_PATH 512

enum process_libc { LIBC_NONE, LIBC_GLIBC, LIBC_MUSL };

struct process_maps {
    enum process_libc libc;
    char libc_path[PROCESS_MAPS_PATH]; /* as the process sees it, printable; "" */
    char vm_path[PROCESS_MAPS_PATH];   /* of libjvm.so */
    char profiler[64];                 /* another profiler's library, by its base name */
    bool agent;                        /* ours was loaded before, from its own file or a copy */
    bool vm_deleted;                   /* replaced or removed on disk */
    bool j9;
    bool
        nameless; /* code is shown as mapped from "/": Ubuntu kernels 5.x did this with overlayfs */
};

/* Adds what a line of /proc/PID/maps says; the line has no newline. */
void process_maps_line(struct process_maps *m, const char *line);
int process_maps_read(pid_t pid, struct process_maps *out); /* 0 or -errno */

#endif
