#include "core/session/session_state.h"

#include <string.h>

/* What is sampled in time is worth more than the last library's tables. */
#define AWAIT_MS 500

/* The walker that was asked for, until the agent says which one it uses. */
static bool needs_tables(const struct session *s) {
    const char *walker = s->drain.report.walker;
    if (!walker[0])
        return !s->adopted &&
               (s->options.walk == WIRE_WALK_VMX || s->options.walk == WIRE_WALK_DWARF);
    return strcmp(walker, session_walk_name[WIRE_WALK_VMX]) == 0 ||
           strcmp(walker, session_walk_name[WIRE_WALK_DWARF]) == 0;
}

void drain_unwind(struct session *s) {
    struct drain *d = &s->drain;
    struct err e;
    char trouble[256];
    if (d->unwind) {
        if (unwind_trouble(d->unwind, trouble, sizeof trouble))
            session_set_message(s, "%s", trouble);
        return;
    }
    if (d->unwind_failed || !d->linked || !needs_tables(s))
        return;
    if (unwind_start(s->jvm.pid, mapping_unwind(&s->mapping), &d->unwind, &e) == 0)
        return;
    d->unwind_failed = true;
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
