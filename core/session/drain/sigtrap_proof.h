/*
 * Whether perf_events of this kernel can send SIGTRAP to the thread that they count, without danger
 * for the process (perf_attr_trap in core/wire/perf_attr.h).
 *
 * Kernels from 5.13 on have this. But before 5.19, an event ends the process if the thread blocks
 * SIGTRAP at that moment. So the version is checked, and then a child of this process tries it: a
 * signal that comes while it is blocked, and one that comes at once.
 *
 * Context: any thread.
 */
#ifndef JTOP_SESSION_DRAIN_SIGTRAP_PROOF_H
#define JTOP_SESSION_DRAIN_SIGTRAP_PROOF_H

#include <stdbool.h>

/* The first call takes one or two milliseconds, later ones nothing. False also if this process may
 * not open perf_events. */
bool sigtrap_proof(void);

#endif
