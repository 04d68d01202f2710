#include "core/report/event_trouble.h"

#include "core/report/quality.h"

#include <stdio.h>
#include <string.h>

bool event_trouble_fails(const struct session_engine *e) {
    return e->asked && !e->runs && e->error != 0;
}

const char *event_trouble_why(const struct session_engine *e) {
    if (!e->reason[0])
        return e->error ? strerror(e->error) : "";
    const char *why = e->reason;
    for (size_t i = 0; e->name[0] && i < 2; i++) {
        char head[sizeof e->name + 16];
        size_t n = (size_t)snprintf(head, sizeof head, "%s%s%s", i ? "event \"" : "", e->name,
                                    i ? "\": " : ": ");
        if (!strncmp(e->reason, head, n))
            why = e->reason + n;
    }
    return why;
}

bool event_trouble_find(const struct session_status *st, int of, char *out, size_t size) {
    for (int i = 0; i < EVENT_KINDS; i++) {
        int event = (of + i) % EVENT_KINDS;
        const struct session_engine *e = &st->engine[event];
        if (!event_trouble_fails(e) || event >= WIRE_EVENTS)
            continue;
        snprintf(out, size, "%s cannot be sampled: %s", quality_event_name(st, event),
                 event_trouble_why(e));
        return true;
    }
    const struct session_engine *e = &st->engine[of];
    if (!e->biased)
        return false;
    snprintf(out, size, "BIASED: %s is sampled at safepoints only%s%s", quality_event_name(st, of),
             e->reason[0] ? ": " : "", event_trouble_why(e));
    return true;
}
