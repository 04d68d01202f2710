/*
 * How values on the wire are named, on screen and in files.
 *
 * Context: pure. Frontend only: the agent does not need them.
 */
#ifndef JTOP_WIRE_WIRE_NAMES_H
#define JTOP_WIRE_WIRE_NAMES_H

#include "core/wire/record.h"

/* "unknown_pc", …: index enum wire_failure. */
extern const char *const wire_failure_name[WIRE_FAILURES];
/* "running", "parked", …: index enum wire_thread_state. */
extern const char *const wire_state_name[WIRE_THREAD_STATES];
/* "RUNNABLE", "BLOCKED", …: index enum wire_java; "": unknown. */
extern const char *const wire_java_name[WIRE_JAVA_STATES];
/* "auto", "perf", …: index enum wire_mechanism. */
extern const char *const wire_mechanism_name[WIRE_MECHANISMS];
/* "vm", "vmx", "fp", "dwarf", "no", "asgct": index enum wire_walk. */
extern const char *const wire_walk_name[WIRE_WALKS];
/* WIRE_WALKS: no walk has this name. */
enum wire_walk wire_walk_by_name(const char *name);

#endif
