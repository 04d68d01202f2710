/*
 * Whether perf_events of this kernel can send SIGTRAP to the thread that they count, without danger
 * for the process (perf_attr_trap in core/wire/perf_attr.h).
 *
 * Kernels from 5.13 on have this, but it is safe from 6.15 on (sources: kernel/events/core.c and
 * kernel/signal.c of these versions). Before 5.19, an event ends the process if the thread blocks
 * SIGTRAP at that moment. Before 6.11, the signal may come in the middle of a page fault, whose
 * SIGSEGV is then delivered at the wrong place. From 6.11 to 6.14, closing an event may wait for
 * its thread without end. So the version is checked, and then a child of this process tries it: a
 * signal that comes while it is blocked, and one that comes at once.
 *
 * Context: any thread.
 */
#ifndef JTOP_SESSION_DRAIN_SIGTRAP_PROOF_H
#define JTOP_SESSION_DRAIN_SIGTRAP_PROOF_H

#include <stdbool.h>

/* False also if this process may not open perf_events. The first call waits for the child: if it has
 * just begun, one or two milliseconds, or ten if there was no perf_event on the machine. */
bool sigtrap_proof(void);
/* Starts the child, so that there is nothing to wait for later. The calling thread must not end
 * before sigtrap_proof was called. */
void sigtrap_proof_begin(void);

#endif
