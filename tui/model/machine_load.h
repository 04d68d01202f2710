/*
 * CPU load of a JVM and of the whole machine.
 *
 * Context: frontend; one thread at a time per struct.
 */
#ifndef JTOP_TUI_MODEL_MACHINE_LOAD_H
#define JTOP_TUI_MODEL_MACHINE_LOAD_H

#include <stdint.h>
#include <sys/types.h>

struct machine_load {
    uint64_t user, system;   /* of the process, in clock ticks since it started */
    uint64_t machine, total; /* all processors: ticks not idle, and all ticks */
};

/* Computes the load since the last reading as a share of all processors, 0 to 1. -1: not known, as
 * in the first call. */
void machine_load_read(struct machine_load *l, pid_t pid, double *user, double *system,
                       double *machine);

#endif
