#include "tui/quality.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void quality_describe(struct export_quality *q, const struct session_status *st,
                      const struct jvm *j, struct quality_text *room) {
    /* index: enum wire_event */
    static const char *const units[WIRE_EVENTS] = {"ns",    "ns", "bytes", "ns",
                                                   "bytes", "ns", "total", "calls"};
    bool usual = !st->walker[0] || !strcmp(st->walker, session_walk_name[WIRE_WALK_VM]);
    snprintf(room->jvm, sizeof room->jvm, "%s (pid %d)", j->name, (int)j->pid);
    quality_precise(st, room->precise, sizeof room->precise);
    *q = (struct export_quality){.event = st->event,
                                 .unit = "ns",
                                 .interval = st->interval,
                                 .elapsed_ns = st->elapsed_ns,
                                 .dropped = st->dropped,
                                 .jvm = room->jvm,
                                 .walker = usual ? NULL : st->walker,
                                 .precise = st->recompiled ? room->precise : NULL};
    for (int i = 0; i < WIRE_EVENTS; i++)
        if (strcmp(session_event_name[i], st->event) == 0)
            q->unit = units[i];
    const int most = (int)(sizeof q->failed / sizeof q->failed[0]);
    for (int i = 1; i < WIRE_FAILURES && q->failed_count < most; i++) {
        if (!st->failed[i] || i == WIRE_FAILURE_NO_JAVA) /* that was asked for */
            continue;
        q->failed[q->failed_count].name = session_failure_name[i];
        q->failed[q->failed_count++].samples = st->failed[i];
    }
}

const char *quality_walker(const struct session_status *st, enum wire_walk asked, char *out,
                           size_t size) {
    const char *name = asked < WIRE_WALKS ? session_walk_name[asked] : "";
    /* A recording was walked as somebody else asked. */
    if (!st->walker[0] || st->phase == SESSION_REPLAYED || !strcmp(st->walker, name))
        snprintf(out, size, "%s", "");
    else
        snprintf(out, size, "walker %s instead of %s%s%s", st->walker, name,
                 st->reason[0] ? ": " : "", st->reason);
    return out;
}

const char *quality_precise(const struct session_status *st, char *out, size_t size) {
    snprintf(out, size, "%" PRIu64 " method%s recompiled, %.0f ms", st->recompiled,
             st->recompiled == 1 ? "" : "s", (double)st->recompile_ns / 1e6);
    return out;
}
