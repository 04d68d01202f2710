/*
 * The kinds of events in a profile: those of the wire, and two for memory that is still in use.
 *
 * Context: pure.
 */
#ifndef JTOP_EVENT_EVENT_KIND_H
#define JTOP_EVENT_EVENT_KIND_H

#include "core/wire/layout.h"

enum event_kind {
    EVENT_LIVE = WIRE_EVENTS, /* allocated and still alive: ALLOC with WIRE_ENGINE_LIVE */
    EVENT_LEAK,               /* native memory not freed: NATIVEMEM */
    EVENT_KINDS
};

/* "cpu", "wall", …: index enum event_kind. */
extern const char *const event_kind_name[EVENT_KINDS];
/* The unit of its weight: "ns", "bytes", "total"; index enum event_kind. */
extern const char *const event_kind_unit[EVENT_KINDS];

#endif
