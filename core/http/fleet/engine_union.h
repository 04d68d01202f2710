/*
 * What several users want to be sampled in one JVM, as one set of engines. Only one engine at a
 * time samples an event, so its interval is the finest that any user wants.
 *
 * Context: pure; one thread per struct.
 */
#ifndef JTOP_HTTP_FLEET_ENGINE_UNION_H
#define JTOP_HTTP_FLEET_ENGINE_UNION_H

#include "core/base/err.h"
#include "core/wire/layout.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero: no engine. */
struct engine_union {
    struct wire_engine_request of[WIRE_EVENTS]; /* indexed by event */
    bool has[WIRE_EVENTS];
};

/* Makes a union of engines as event_parse returns them. -EINVAL: too many, the same event twice, or
 * an unknown event. */
int engine_union_of(const struct wire_engine_request *engine, uint32_t engines,
                    struct engine_union *out, struct err *e);
/* Lists the engines as session_set_engines takes them; `out` has room for WIRE_EVENTS. Returns how
 * many. */
uint32_t engine_union_list(const struct engine_union *s, struct wire_engine_request *out);

bool engine_union_is_empty(const struct engine_union *s);
bool engine_union_same(const struct engine_union *a, const struct engine_union *b);
/* Whether sampling `s` gives a user all of `want`: each of its events, at the same interval or a
 * shorter one. */
bool engine_union_covers(const struct engine_union *s, const struct engine_union *want);

/* Adds `more` to `to`. -EBUSY: an event can sample only one of two things at a time ("cache-misses"
 * and "page-faults", two methods), and `to` and `more` have different ones; `to` is unchanged
 * then. */
int engine_union_add(struct engine_union *to, const struct engine_union *more, struct err *e);

/* Takes what we asked for out of `now`. For each event that is still as in `ours`, `now` becomes as
 * in `before`. What others have changed meanwhile (a screen that views our session, or the process
 * whose session we view) stays. */
void engine_union_take_back(struct engine_union *now, const struct engine_union *ours,
                            const struct engine_union *before);

#endif
