#include "tui/view/event_list.h"

#include "core/event/event.h"
#include "tui/terminal/press.h"
#include "tui/view/view.h"
#include "core/base/format.h"
#include "core/report/event_trouble.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Drawing. */

/* Positions of the columns. */
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
    [EVENT_LIVE] = "alloc's objects still alive",
    [EVENT_LEAK] = "nativemem not freed",
};

/* Returns the event's name; a typed name also before the session has it. */
static const char *name_of(const struct event_list *l, const struct model *m, int event) {
    return event < WIRE_EVENTS && l->wanted.on[event] ? l->wanted.request[event].name
                                                      : model_event_name(m, event);
}

/* Returns how an event is sampled. A derived event (alive, not freed) shows the event it comes
 * from. */
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
    return !wanted ? "off" : event_trouble_fails(e) ? "cannot" : "...";
}

static void draw_row(const struct event_list *l, struct canvas *c, struct area a, int y,
                     const struct model *m, int event) {
    const struct session_engine *e = &m->status.engine[event];
    struct format f = {""};
    bool wanted = engine_set_has(&l->wanted, event) && m->source.set_engines;
    bool fails = wanted && event_trouble_fails(e);
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
                fails       ? event_trouble_why(e)
                : e->biased ? "BIASED: at safepoints only"
                            : what[event]);
}

/* Draws a message in `row`. If it is long, the row above is also used, because its end tells the
 * user what to do. */
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

/* Draws the last row: the editor, a message, or all of what does not fit into the event's row. */
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
        draw_message(c, row, ROLE_STATUS, e->asked || e->runs ? event_trouble_why(e) : "");
    }
}

static void event_list_rows(const struct event_list *l, const struct model *m,
                            struct event_list_rows *out);

void event_list_draw(struct event_list *l, struct canvas *c, struct area a, const struct model *m,
                     struct caret *caret) {
    struct event_list_rows listed;
    event_list_rows(l, m, &listed);
    struct area list = a;
    list.rows -= l->editor.open && l->said[0] ? 3 : 2; /* rows for messages */
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

void event_list_init(struct event_list *l, const struct model_settings *settings) {
    engine_set_init(&l->wanted, settings->engine, settings->engines);
    l->told = l->wanted;
}

/* True if the event has a row. Events that need a name have one only after they were given a
 * name. */
static bool is_row(const struct event_list *l, const struct model *m, int event) {
    if (event != WIRE_EVENT_PERF && event != WIRE_EVENT_METHOD)
        return true;
    return model_has_event(m, event) ||
           strcmp(l->wanted.request[event].name, event_kind_name[event]) != 0;
}

static uint64_t item(const void *arg, uint32_t row) {
    const struct event_list_rows *r = arg;
    return (uint64_t)r->event[row];
}

/* Lists the rows. A derived event stands below the event it comes from. */
static void event_list_rows(const struct event_list *l, const struct model *m,
                            struct event_list_rows *out) {
    static const int order[EVENT_KINDS] = {
        WIRE_EVENT_CPU,  WIRE_EVENT_WALL,      WIRE_EVENT_ALLOC, EVENT_LIVE,
        WIRE_EVENT_LOCK, WIRE_EVENT_NATIVEMEM, EVENT_LEAK,       WIRE_EVENT_NATIVELOCK,
        WIRE_EVENT_PERF, WIRE_EVENT_METHOD};
    out->count = 0;
    for (int i = 0; i < EVENT_KINDS; i++)
        if (is_row(l, m, order[i]))
            out->event[out->count++] = order[i];
}

static struct cursor_rows rows_of(const struct event_list_rows *r) {
    return (struct cursor_rows){.count = r->count, .item = item, .arg = r};
}

static void select_event(struct event_list *l, const struct model *m, int event) {
    struct event_list_rows listed;
    event_list_rows(l, m, &listed);
    struct cursor_rows rows = rows_of(&listed);
    for (uint32_t i = 0; i < listed.count; i++)
        if (listed.event[i] == event)
            cursor_select(&l->cursor, i, &rows);
}

void event_list_open(struct event_list *l, const struct model *m, int event) {
    l->open = true;
    l->said[0] = '\0';
    select_event(l, m, event);
}

int event_list_chosen(const struct event_list *l, const struct model *m) {
    struct event_list_rows listed;
    event_list_rows(l, m, &listed);
    return listed.event[l->cursor.row < listed.count ? l->cursor.row : 0];
}

/* Reports why nothing can be started here. False if it can. */
static bool refuse(struct event_list *l, const struct model *m) {
    if (m->source.set_engines && m->status.phase != SESSION_JVM_GONE &&
        m->status.phase != SESSION_REPLAYED)
        return false;
    snprintf(l->said, sizeof l->said, "%s",
             m->status.phase == SESSION_JVM_GONE
                 ? "the JVM is gone: nothing can be started any more"
                 : "this is a recording: nothing can be started");
    return true;
}

static void add_typed(struct event_list *l, const struct model *m) {
    struct wire_engine_request request;
    struct err e = {0};
    if (!l->editor.text[0]) {
        l->editor.open = false;
    } else if (event_parse(l->editor.text, &request, &e) != 0 ||
               (m->source.check && m->source.check(m->source.arg, &request, &e) != 0)) {
        snprintf(l->said, sizeof l->said, "%s", e.message);
    } else if (request.event < WIRE_EVENTS) {
        l->editor.open = false;
        engine_set_add(&l->wanted, &request);
        l->changed = true;
        select_event(l, m, (int)request.event);
    }
}

void event_list_type(struct event_list *l, const struct model *m, int32_t press) {
    l->said[0] = '\0';
    if (press == PRESS_ENTER)
        add_typed(l, m);
    else if (press == PRESS_ESCAPE)
        l->editor.open = false;
    else
        line_editor_press(&l->editor, press);
}

static void change_interval(struct event_list *l, const struct model *m, int event, int by) {
    const struct session_engine *e = &m->status.engine[event];
    uint64_t now = event < WIRE_EVENTS ? l->wanted.request[event].interval : 0;
    if (event >= WIRE_EVENTS) {
        snprintf(l->said, sizeof l->said, "this event always has the interval of %s",
                 event == EVENT_LIVE ? "alloc" : "nativemem");
        return;
    }
    if (!now) /* the agent's choice */
        now = e->interval ? e->interval : event_default_interval((enum wire_event)event);
    if (!engine_set_step(&l->wanted, event, now, by))
        snprintf(l->said, sizeof l->said, "this list offers no interval that is %s",
                 by > 0 ? "longer" : "shorter");
    else if (l->wanted.on[event])
        l->changed = true;
}

static void toggle(struct event_list *l, int event) {
    engine_set_toggle(&l->wanted, event);
    l->changed = true;
}

void event_list_start(struct event_list *l, int event) {
    l->said[0] = '\0';
    if (!engine_set_has(&l->wanted, event))
        toggle(l, event);
}

enum event_list_wish event_list_command(struct event_list *l, const struct model *m,
                                        enum command command) {
    struct event_list_rows listed;
    event_list_rows(l, m, &listed);
    struct cursor_rows rows = rows_of(&listed);
    int event = event_list_chosen(l, m);
    l->said[0] = '\0';
    if (cursor_command(&l->cursor, command, &rows))
        return EVENT_LIST_STAY;
    switch (command) {
    case COMMAND_BACK:
        return EVENT_LIST_LEAVE;
    case COMMAND_LOOK:
        return EVENT_LIST_LOOK;
    case COMMAND_ENTER:
        if (!refuse(l, m))
            toggle(l, event);
        break;
    case COMMAND_LONGER:
    case COMMAND_SHORTER:
        if (!refuse(l, m))
            change_interval(l, m, event, command == COMMAND_LONGER ? 1 : -1);
        break;
    case COMMAND_ADD:
        if (!refuse(l, m))
            line_editor_open(&l->editor, "");
        break;
    default:
        break;
    }
    return EVENT_LIST_STAY;
}

void event_list_mouse(struct event_list *l, const struct model *m, const struct mouse *press) {
    struct event_list_rows listed;
    event_list_rows(l, m, &listed);
    struct cursor_rows rows = rows_of(&listed);
    bool enter;
    if (!l->editor.open && view_mouse_list(&l->cursor, l->area, 1, press, &rows, &enter) && enter)
        event_list_command(l, m, COMMAND_ENTER);
}

static int tell(const struct engine_set *s, const struct model *m, struct err *e) {
    struct wire_engine_request engine[WIRE_EVENTS];
    uint32_t n = engine_set_list(s, engine);
    return m->source.set_engines(m->source.arg, engine, n, e);
}

/* True if the event replaces another one of the same number that has samples. */
static bool replaces(const struct event_list *l, const struct model *m, int event) {
    return l->wanted.on[event] && m->counted[event] &&
           strcmp(l->wanted.request[event].name, l->told.request[event].name) != 0;
}

/* Removes the samples of the replaced event, which would count as samples of the new one. If the
 * new event does not run, the replaced one is wanted again and keeps its samples. */
static void replace(struct event_list *l, const struct model *m, int event) {
    struct session_status s;
    struct err e = {0};
    m->source.status(m->source.arg, &s);
    if (s.engine[event].runs) {
        profile_forget(m->source.lock(m->source.arg), (uint32_t)event);
        m->source.unlock(m->source.arg);
        return;
    }
    snprintf(l->said, sizeof l->said, "%s cannot be sampled: %s", l->wanted.request[event].name,
             event_trouble_why(&s.engine[event]));
    l->wanted.request[event] = l->told.request[event];
    l->wanted.on[event] = l->told.on[event];
    (void)tell(&l->wanted, m, &e);
}

void event_list_tell(struct event_list *l, const struct model *m) {
    struct err e = {0};
    l->changed = false;
    if (refuse(l, m))
        return;
    if (tell(&l->wanted, m, &e) == 0) {
        for (int i = 0; i < WIRE_EVENTS; i++)
            if (replaces(l, m, i))
                replace(l, m, i);
        l->told = l->wanted;
        return;
    }
    l->wanted = l->told;
    snprintf(l->said, sizeof l->said, "not changed: %s", e.message);
}
