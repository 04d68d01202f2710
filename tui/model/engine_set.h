/*
 * The events to sample, with their settings. The user changes them in the list of events, and the
 * session then gets the new set. An event that is switched off keeps its interval for the next
 * time.
 *
 * Objects still alive are ALLOC with WIRE_ENGINE_LIVE; memory not freed is NATIVEMEM without
 * WIRE_ENGINE_NO_FREE. If ALLOC or NATIVEMEM is switched off, they are off too. If only they are
 * switched off, ALLOC or NATIVEMEM stays on.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_ENGINE_SET_H
#define JTOP_TUI_MODEL_ENGINE_SET_H

#include "core/session/session.h"

#include <stdbool.h>
#include <stdint.h>

struct engine_set {
    struct wire_engine_request request[WIRE_EVENTS]; /* by event */
    bool on[WIRE_EVENTS];
};

/* Sets the events a session was started with; 0 engines: CPU time. */
void engine_set_init(struct engine_set *s, const struct wire_engine_request *engine,
                     uint32_t engines);

/* `event`: of enum event_kind; false if out of range. */
bool engine_set_has(const struct engine_set *s, int event);
void engine_set_toggle(struct engine_set *s, int event);
/* Adds a request that the user typed. It replaces another one of the same event. */
void engine_set_add(struct engine_set *s, const struct wire_engine_request *request);

/* Sets the event's interval to the next step above `in_force` (`by` > 0), or else below it. Steps
 * are 1, 2, 5, 10 and so on, in the event's unit. False if there is no such step. */
bool engine_set_step(struct engine_set *s, int event, uint64_t in_force, int by);

/* Lists the events that are on, for session_set_engines. Returns their number. */
uint32_t engine_set_list(const struct engine_set *s, struct wire_engine_request out[WIRE_EVENTS]);

#endif
