#include "tui/view/header_events.h"

#include "tui/widget/format.h"

#include <stdio.h>
#include <string.h>

enum detail { NAME_ONLY, INTERVAL, ALL };

bool header_event_fails(const struct session_engine *e) {
    return e->asked && !e->runs && e->error != 0;
}

const char *header_event_why(const struct session_engine *e) {
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

/* It has samples and takes no more, while the JVM is there to take some. */
static bool is_off(const struct model *m, int event) {
    return m->status.phase == SESSION_RUNNING && !m->status.engine[event].runs &&
           !m->status.engine[event].asked && event < WIRE_EVENTS;
}

static const char *describe(const struct model *m, int event, enum detail detail, char *out,
                            size_t size) {
    const struct session_engine *e = &m->status.engine[event];
    struct format f = {""};
    if (header_event_fails(e))
        snprintf(out, size, "%s", detail == ALL ? "cannot run" : "!");
    else if (is_off(m, event))
        snprintf(out, size, "off");
    else if (event >= WIRE_EVENTS || !e->mechanism[0])
        snprintf(out, size, "%s", "");
    else
        snprintf(out, size, "%s%s%s%s", detail == ALL ? e->mechanism : "",
                 detail == ALL && e->interval && detail >= INTERVAL ? " " : "",
                 e->interval && detail >= INTERVAL
                     ? format_step(&f, event_kind_unit[event], e->interval)
                     : "",
                 e->biased ? detail == NAME_ONLY ? "BIASED" : " BIASED" : "");
    return out;
}

const char *header_event_figure(const struct model *m, int event, char *out, size_t size) {
    describe(m, event, ALL, out, size);
    if (!out[0])
        snprintf(out, size, "%s", m->status.engine[event].asked ? "?" : "-");
    return out;
}

/* "[cpu perf 10ms]", " alloc 512K ": the one in question keeps its detail longest. Returns out. */
static const char *event_text(const struct model *m, int event, enum detail detail, char *out,
                              size_t size) {
    bool on = event == m->question.event;
    char text[128];
    describe(m, event, on ? ALL : detail, text, sizeof text);
    snprintf(out, size, on ? "[%s%s%s]" : " %s%s%s ", model_event_name(m, event),
             text[0] ? " " : "", text);
    return out;
}

static int columns(const struct canvas *c, const struct model *m, enum detail detail) {
    char text[256];
    int cols = 0;
    for (int i = 0; i < EVENT_KINDS; i++)
        if (model_has_event(m, i))
            cols += canvas_width(c, event_text(m, i, detail, text, sizeof text));
    return cols;
}

void header_draw_events(struct canvas *c, int row, const struct model *m) {
    enum detail detail = ALL;
    while (detail > NAME_ONLY && columns(c, m, detail) > c->cols)
        detail--;
    int at = 0;
    for (int i = 0; i < EVENT_KINDS; i++) {
        const struct session_engine *e = &m->status.engine[i];
        char text[256];
        if (!model_has_event(m, i))
            continue;
        enum role role = header_event_fails(e) || e->biased ? ROLE_WARNING
                         : i == m->question.event           ? ROLE_TAB_ON
                                                            : ROLE_TAB;
        at += canvas_text(c, row, at, c->cols - at, role,
                          event_text(m, i, detail, text, sizeof text));
    }
}

bool header_event_trouble(const struct model *m, char *out, size_t size) {
    for (int i = 0; i < EVENT_KINDS; i++) {
        int event = (m->question.event + i) % EVENT_KINDS;
        const struct session_engine *e = &m->status.engine[event];
        if (!header_event_fails(e) || event >= WIRE_EVENTS)
            continue;
        snprintf(out, size, "%s cannot be sampled: %s", model_event_name(m, event),
                 header_event_why(e));
        return true;
    }
    const struct session_engine *e = &m->status.engine[m->question.event];
    if (!e->biased)
        return false;
    snprintf(out, size, "BIASED: %s is sampled at safepoints only%s%s",
             model_event_name(m, m->question.event), e->reason[0] ? ": " : "", header_event_why(e));
    return true;
}

const char *header_event_reason(const struct model *m, char *out, size_t size) {
    const struct session_engine *e = &m->status.engine[m->question.event];
    if (m->question.event < WIRE_EVENTS && e->mechanism[0] && session_engine_is_poorer(e))
        snprintf(out, size, "%s: %s", e->mechanism, header_event_why(e));
    else
        snprintf(out, size, "%s", "");
    return out;
}
