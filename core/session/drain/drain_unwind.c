#include "core/session/session_state.h"
#include "core/wire/wire_names.h"

#include <string.h>

/* What is sampled in time is worth more than the last library's tables. */
#define AWAIT_MS 500

/* The walker that was asked for, until the agent says which one it uses; WIRE_WALKS: nothing is
 * known. */
static enum wire_walk walker_of(const struct session *s) {
    const char *name = s->drain.report.walker;
    int walk = 0;
    if (!name[0])
        return s->adopted ? WIRE_WALKS : s->options.walk;
    while (walk < WIRE_WALKS && strcmp(name, wire_walk_name[walk]) != 0)
        walk++;
    return (enum wire_walk)walk;
}

void drain_unwind(struct session *s) {
    struct drain *d = &s->drain;
    struct err e;
    char trouble[256];
    bool asked = walker_of(s) != WIRE_WALK_VM; /* else frame pointers do as well */
    if (d->unwind) {
        if (asked && unwind_trouble(d->unwind, trouble, sizeof trouble))
            session_set_message(s, "%s", trouble);
        return;
    }
    if (d->unwind_failed || !d->linked || !wire_walk_has_tables(walker_of(s)))
        return;
    if (unwind_start(s->jvm.pid, mapping_unwind(&s->mapping), &d->unwind, &e) == 0)
        return;
    d->unwind_failed = true;
    if (asked)
        session_set_message(s, "no unwind tables: %s", e.message);
}

void drain_await_unwind(struct session *s) {
    drain_unwind(s);
    if (s->drain.unwind)
        unwind_wait(s->drain.unwind, AWAIT_MS);
}

void drain_end_unwind(struct session *s) {
    unwind_stop(s->drain.unwind);
    s->drain.unwind = NULL;
    s->drain.unwind_failed = false;
}
