/*
 * What several users want sampled of one JVM, as one set of engines: an event is sampled by one
 * engine at a time, so its interval is the finest that anybody wants.
 *
 * Context: pure; one thread per struct.
 */
#ifndef JTOP_HTTP_FLEET_ENGINE_UNION_H
#define JTOP_HTTP_FLEET_ENGINE_UNION_H

#include "core/base/err.h"
#include "core/wire/layout.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing. */
struct engine_union {
    struct wire_engine_request of[WIRE_EVENTS]; /* by event */
    bool has[WIRE_EVENTS];
};

/* Of what event_parse makes. -EINVAL: too many, two of one event, or one that there is not. */
int engine_union_of(const struct wire_engine_request *engine, uint32_t engines,
                    struct engine_union *out, struct err *e);
/* As session_set_engines takes it: `out` has room for WIRE_EVENTS. Returns how many. */
uint32_t engine_union_list(const struct engine_union *s, struct wire_engine_request *out);

bool engine_union_is_empty(const struct engine_union *s);
bool engine_union_same(const struct engine_union *a, const struct engine_union *b);
/* Whoever wants `want` has it where `s` is sampled: each event, as fine at least. */
bool engine_union_covers(const struct engine_union *s, const struct engine_union *want);

/* Both. -EBUSY: an event that can be only one of two things at a time ("cache-misses" and
 * "page-faults", two methods) is another one in each; `to` is as it was. */
int engine_union_add(struct engine_union *to, const struct engine_union *more, struct err *e);

/* What others (a screen that looks on, the process that we look on at) have made of what we asked
 * for: where `now` is still as in `ours`, it is as `before` us; what they changed stays. */
void engine_union_take_back(struct engine_union *now, const struct engine_union *ours,
                            const struct engine_union *before);

#endif
