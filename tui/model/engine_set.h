/*
 * Which events are wanted, and how: what a person changes at the events' list, and what the
 * session is then asked for. What is switched off keeps its interval for the next time.
 *
 * Objects still alive are ALLOC with WIRE_ENGINE_LIVE, memory not freed is NATIVEMEM without
 * WIRE_ENGINE_NO_FREE: they come and go with those, which stay when only they are switched off.
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

/* What a session was started with; 0 engines: CPU time. */
void engine_set_init(struct engine_set *s, const struct wire_engine_request *engine,
                     uint32_t engines);

/* `event`: of enum event_kind, out of range never wanted. */
bool engine_set_has(const struct engine_set *s, int event);
void engine_set_toggle(struct engine_set *s, int event);
/* Adds one as somebody typed it, in place of another of the same event. */
void engine_set_add(struct engine_set *s, const struct wire_engine_request *request);

/* One of 1, 2, 5, 10 … of the event's unit up (`by` > 0) or down from `in_force`. False where
 * there is none. */
bool engine_set_step(struct engine_set *s, int event, uint64_t in_force, int by);

/* For session_set_engines: those that are on. Returns how many. */
uint32_t engine_set_list(const struct engine_set *s, struct wire_engine_request out[WIRE_EVENTS]);

#endif
