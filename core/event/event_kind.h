/*
 * The kinds of events in a profile: those of the wire, two for memory that is still in use, and one
 * for the wall clock samples of threads that are not idle.
 *
 * Context: pure.
 */
#ifndef JTOP_EVENT_EVENT_KIND_H
#define JTOP_EVENT_EVENT_KIND_H

#include "core/wire/layout.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
    EVENT_LIVE = WIRE_EVENTS, /* allocated and still alive: ALLOC with WIRE_ENGINE_LIVE */
    EVENT_LEAK,               /* native memory not freed: NATIVEMEM */
    EVENT_KINDS,
    /* Wall clock samples of threads that are not idle; counted beside WIRE_EVENT_WALL. No user asks
     * for it by name, so it is not among the kinds: loops over them, their names and files do not
     * have it. Only a query can ask for it. */
    EVENT_ACTIVE = EVENT_KINDS
};

/* Whether a wall clock sample with this state counts as active. `state`: enum wire_thread_state,
 * larger values are not known.
 *
 * A thread is idle while it sleeps until something gives it work: in Object.wait, park, sleep, poll
 * or accept, on a native condition, or in any other call that no state is known for. It is active
 * while it runs, and while the work that it has takes time: it enters a monitor, reads, writes or
 * connects, or waits for a disk. Samples without a state are active, so that none is hidden
 * wrongly. The state alone decides: a thread of the VM that waits for work sleeps in a native
 * condition. */
bool event_is_active(uint8_t state);

/* "cpu", "wall", …: index enum event_kind. */
extern const char *const event_kind_name[EVENT_KINDS];
/* The unit of its weight: "ns", "bytes", "total"; index enum event_kind. */
extern const char *const event_kind_unit[EVENT_KINDS];

#endif
