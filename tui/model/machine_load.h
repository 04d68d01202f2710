/*
 * How busy the processors are: with a JVM, and altogether.
 *
 * Context: frontend; one thread at a time per struct.
 */
#ifndef JTOP_TUI_MODEL_MACHINE_LOAD_H
#define JTOP_TUI_MODEL_MACHINE_LOAD_H

#include <stdint.h>
#include <sys/types.h>

struct machine_load {
    uint64_t user, system;   /* of the process, in clock ticks since it began */
    uint64_t machine, total; /* all processors: not idle, and altogether */
};

/* Shares since the last reading, 0 to 1 of all processors; -1: not known, as at the first time. */
void machine_load_read(struct machine_load *l, pid_t pid, double *user, double *system,
                       double *machine);

#endif
