/* The events' list as it is drawn. */
#include "tui/view/event_list.h"

#include "tui/view/header_events.h"
#include "tui/view/view.h"
#include "tui/widget/format.h"

#include <string.h>

/* Where the columns stand. */
enum { MARK = 2, EVENT = 6, MECHANISM = 24, INTERVAL = 34, SAMPLES = 42, WHAT = 51 };

static const char *const what[EVENT_KINDS] = {
    [WIRE_EVENT_CPU] = "time on a processor",
    [WIRE_EVENT_WALL] = "time, running or not",
    [WIRE_EVENT_ALLOC] = "bytes of Java objects",
    [WIRE_EVENT_LOCK] = "time waited for Java locks",
    [WIRE_EVENT_NATIVEMEM] = "bytes of malloc and mmap",
    [WIRE_EVENT_NATIVELOCK] = "time waited for pthread locks",
    [WIRE_EVENT_PERF] = "occurrences",
    [WIRE_EVENT_METHOD] = "time in Java methods",
    [EVENT_LIVE] = "of alloc: objects still alive",
    [EVENT_LEAK] = "of nativemem: bytes not freed",
};

/* The name as it was typed, before the session has it. */
static const char *name_of(const struct event_list *l, const struct model *m, int event) {
    return event < WIRE_EVENTS && l->wanted.on[event] ? l->wanted.request[event].name
                                                      : model_event_name(m, event);
}

/* How it is sampled; what is left of an event comes with that one. */
static const char *mechanism_of(const struct event_list *l, const struct model *m, int event) {
    const struct session_engine *e = &m->status.engine[event];
    bool wanted = engine_set_has(&l->wanted, event);
    if (event >= WIRE_EVENTS) {
        int of = event == EVENT_LIVE ? WIRE_EVENT_ALLOC : WIRE_EVENT_NATIVEMEM;
        bool runs = m->status.phase != SESSION_RUNNING || m->status.engine[of].runs;
        if (runs && (wanted || m->counted[event]))
            return model_event_name(m, of);
        return m->status.phase != SESSION_RUNNING ? "" : "off";
    }
    if (e->runs || m->status.phase != SESSION_RUNNING)
        return e->mechanism;
    return !wanted ? "off" : header_event_fails(e) ? "cannot" : "...";
}

static void draw_row(const struct event_list *l, struct canvas *c, struct area a, int y,
                     const struct model *m, int event) {
    const struct session_engine *e = &m->status.engine[event];
    struct format f = {""};
    bool wanted = engine_set_has(&l->wanted, event) && m->source.set_engines;
    bool fails = wanted && header_event_fails(e);
    enum role role = fails || e->biased ? ROLE_WARNING : wanted ? ROLE_VALUE : ROLE_DIM;
    uint64_t interval = e->interval, samples = m->counted[event];
    if (event < WIRE_EVENTS && l->wanted.request[event].interval)
        interval = l->wanted.request[event].interval;
    canvas_text(c, y, a.col + MARK, 3, role, fails ? "[!]" : wanted ? "[x]" : "[ ]");
    canvas_head(c, y, a.col + EVENT, MECHANISM - EVENT - 1, role, name_of(l, m, event));
    canvas_text(c, y, a.col + MECHANISM, INTERVAL - MECHANISM - 1, role, mechanism_of(l, m, event));
    if (interval && event < WIRE_EVENTS)
        canvas_right(c, y, a.col + INTERVAL, SAMPLES - INTERVAL - 1, ROLE_NUMBER,
                     format_step(&f, event_kind_unit[event], interval));
    canvas_right(c, y, a.col + SAMPLES, WHAT - SAMPLES - 2, ROLE_NUMBER,
                 samples ? format_short_count(&f, samples) : "-");
    canvas_head(c, y, a.col + WHAT, a.cols - WHAT, fails ? ROLE_WARNING : ROLE_TEXT,
                fails       ? header_event_why(e)
                : e->biased ? "BIASED: at safepoints only"
                            : what[event]);
}

/* On two rows, up to and with `row`: what is long says at its end what to do. */
static void draw_message(struct canvas *c, int row, enum role role, const char *s) {
    size_t cut = strlen(s);
    char first[sizeof((struct event_list *)0)->said];
    if (canvas_width(c, s) <= c->cols || cut >= sizeof first) {
        canvas_head(c, row, 0, c->cols, role, s);
        return;
    }
    memcpy(first, s, cut + 1);
    do {
        while (cut > 0 && s[cut - 1] != ' ')
            cut--;
        first[cut ? cut-- : 0] = '\0';
    } while (cut > 0 && canvas_width(c, first) > c->cols);
    canvas_head(c, row - 1, 0, c->cols, role, first);
    canvas_head(c, row, 0, c->cols, role, s + strlen(first));
}

/* The last row: the editor, an answer, or the whole of what the row has no room for. */
static void draw_said(struct event_list *l, struct canvas *c, int row, const struct model *m,
                      struct caret *caret) {
    const struct session_engine *e = &m->status.engine[event_list_chosen(l, m)];
    if (l->editor.open) {
        if (l->said[0])
            draw_message(c, row - 1, ROLE_WARNING, l->said);
        *caret = (struct caret){.row = row, .visible = true};
        caret->col = view_editor(c, row, "event: ", &l->editor);
    } else if (l->changed) {
        canvas_text(c, row, 0, c->cols, ROLE_STATUS, "switching ...");
    } else if (l->said[0]) {
        draw_message(c, row, ROLE_WARNING, l->said);
    } else {
        draw_message(c, row, ROLE_STATUS, e->asked || e->runs ? header_event_why(e) : "");
    }
}

void event_list_draw(struct event_list *l, struct canvas *c, struct area a, const struct model *m,
                     struct caret *caret) {
    struct event_list_rows listed;
    event_list_rows(l, m, &listed);
    struct area list = a;
    list.rows -= l->editor.open && l->said[0] ? 3 : 2; /* what there is to say */
    l->area = list;
    view_heads(c, list, "      EVENT             BY       INTERVAL SAMPLES  A SAMPLE STANDS FOR");
    uint32_t page = list.rows > 1 ? (uint32_t)list.rows - 1 : 0;
    cursor_fit(&l->cursor, listed.count, page);
    for (uint32_t i = 0; i < page && l->cursor.top + i < listed.count; i++)
        draw_row(l, c, list, a.row + 1 + (int)i, m, listed.event[l->cursor.top + i]);
    caret->row = a.row + 1 + (int)(l->cursor.row - l->cursor.top);
    if (page)
        view_cursor_row(c, list, caret->row);
    draw_said(l, c, a.row + a.rows - 1, m, caret);
}
