/*
 * Checks of the process that breakpoints need: page protection and blocked signals (sources:
 * proc_pid_maps(5), proc_pid_status(5), proc_pid_stat(5), sched-stats.txt of the kernel).
 *
 * Context: the agent's thread and VMDeath. Reads /proc, which takes about 30 us per thread.
 */
#ifndef JTOP_AGENT_PROCESS_TRAP_PROCESS_H
#define JTOP_AGENT_PROCESS_TRAP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the protection (PROT_READ …) of code in a private mapping of a file; -1: there is
 * none. */
int trap_process_protection(uintptr_t address);

/* Returns a thread that blocks SIGTRAP and continues to do so, or for which this cannot be found
 * out; 0: none. New threads inherit the mask of the thread that creates them. */
uint32_t trap_process_blocked(void);

/* Waits until every thread was seen asleep or has run repeatedly since the call. Then no thread can
 * still be between a breakpoint that it ran into before and the signal handler. False: some threads
 * did not get to run, and may still be there. */
bool trap_process_passed(void);

#endif
