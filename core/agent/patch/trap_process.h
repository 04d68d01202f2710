/*
 * What breakpoints need to know about the process they are in (sources: proc_pid_maps(5),
 * proc_pid_status(5), proc_pid_stat(5), sched-stats.txt of the kernel).
 *
 * Context: the agent's thread and VMDeath; reads /proc, which takes some 30 us a thread.
 */
#ifndef JTOP_AGENT_PATCH_TRAP_PROCESS_H
#define JTOP_AGENT_PATCH_TRAP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* The protection (PROT_READ …) of code that was mapped from a file, privately; -1: there is none.
 * */
int trap_process_protection(uintptr_t address);

/* A thread that blocks SIGTRAP and goes on doing so, or of which that cannot be found out; 0: none.
 * New threads begin like the one that makes them. */
uint32_t trap_process_blocked(void);

/* Waits until every thread was seen asleep or has run repeatedly since the call, so that none can
 * still be between a breakpoint it ran into before and the signal's handler. False: some did not
 * get to run, and may be there. */
bool trap_process_passed(void);

#endif
