/* The line that says which view is up and what part of the samples it shows. */
#include "tui/view/header.h"

#include "tui/view/view.h"
#include "tui/widget/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GAP 2

/* What the view's numbers are of, where that is not everything; each "" for nothing. */
struct question {
    char name[MODEL_NAME_SIZE]; /* of a thread or method, which may be cut */
    const char *what;           /* that it is: "thread " */
    char rest[LINE_EDITOR_BYTES + MODEL_NAME_SIZE + 160];
};

/* "PAUSED", and how far back that is: "PAUSED -23s". Returns out. */
static const char *state_word(const struct model *m, char *out, size_t size) {
    static const char *const word[] = {
        [SESSION_RUNNING] = "LIVE",      [SESSION_STOPPED] = "STOPPED",
        [SESSION_JVM_GONE] = "JVM GONE", [SESSION_REPLAYED] = "RECORDING",
        [SESSION_FAILED] = "FAILED",
    };
    static const char *const still[] = {[STANDSTILL_STOPPED] = "JVM STOPPED",
                                        [STANDSTILL_TRACED] = "JVM HELD",
                                        [STANDSTILL_FROZEN] = "JVM FROZEN"};
    struct format f = {""};
    const char *now = m->standstill ? still[m->standstill] : word[m->status.phase];
    uint64_t back = m->newest_second > m->held_second ? m->newest_second - m->held_second : 0;
    if (m->held && m->scrubbed && back)
        snprintf(out, size, "PAUSED -%s", format_age(&f, back * 1000));
    else
        snprintf(out, size, "%s", m->held ? "PAUSED" : now);
    if (m->status.recording[0]) {
        size_t n = strlen(out);
        snprintf(out + n, size - n, " REC");
    }
    return out;
}

/* Appends " text" to what there is. */
__attribute__((format(printf, 2, 3))) static void add(struct question *q, const char *fmt, ...) {
    size_t n = strlen(q->rest);
    va_list ap;
    if (n && n + 2 < sizeof q->rest) {
        memcpy(q->rest + n, "  ", 3);
        n += 2;
    }
    va_start(ap, fmt);
    vsnprintf(q->rest + n, sizeof q->rest - n, fmt, ap);
    va_end(ap);
}

static void describe_time(const struct model *m, struct question *out) {
    const struct model_window w = model_window(m);
    struct format f = {""};
    uint64_t end = m->held ? m->held_second : m->newest_second;
    if (w.from && w.from == m->mark_second)
        add(out, "since the mark, %s", format_age(&f, end >= w.from ? (end - w.from) * 1000 : 0));
    else if (w.from)
        add(out, m->held ? "%s of time" : "last %s", format_age(&f, m->span * 1000));
}

static void describe_comparison(const struct model *m, struct question *out) {
    struct format f = {""};
    uint64_t now = m->held ? m->held_second : m->newest_second;
    if (!m->baseline)
        return;
    if (m->baseline_asked.event != m->question.event)
        add(out, "baseline is of %s", model_event_name(m, m->baseline_asked.event));
    else if (now >= m->baseline_second)
        add(out, "against %s ago", format_age(&f, (now - m->baseline_second) * 1000));
    else
        add(out, "against %s later", format_age(&f, (m->baseline_second - now) * 1000));
}

static void describe(const struct model *m, enum live_view view, struct question *out) {
    const struct model_question *q = &m->question;
    *out = (struct question){.what = ""};
    if (view == LIVE_LOCKS) { /* knows no question */
        if (q->narrowings)
            add(out, "all threads, no filter");
        return;
    }
    if (model_zoomed(q)) {
        out->what = "thread ";
        model_zoom_name(m, out->name, sizeof out->name);
    }
    if (q->with_method) {
        char name[MODEL_NAME_SIZE];
        model_method_name(m, q->method, name, sizeof name);
        if (out->name[0]) {
            add(out, "in %s", name);
        } else {
            out->what = "in ";
            snprintf(out->name, sizeof out->name, "%s", name);
        }
    }
    if (q->package[0])
        add(out, "%s.*", q->package);
    if (q->filter[0])
        add(out, "\\%s", q->filter);
    if ((q->narrowings || m->span || m->mark_second || m->scrubbed) && m->snapshot) {
        struct format f = {""};
        add(out, "%s%% of all",
            format_percent(&f, percent_of(m->snapshot->samples, m->samples[q->event])));
    }
    if (q->carriers && !q->virtual_id)
        add(out, "by carrier");
    describe_time(m, out);
    describe_comparison(m, out);
}

static int question_cols(const struct canvas *c, const struct question *q) {
    return canvas_width(c, q->rest) +
           (q->name[0] ? canvas_width(c, q->what) + canvas_width(c, q->name) + GAP : 0);
}

/* A long name gives way. */
static void draw_question(struct canvas *c, struct area a, const struct question *q) {
    int at = a.col, end = a.col + a.cols;
    if (q->name[0]) {
        int room = a.cols - canvas_width(c, q->rest) - canvas_width(c, q->what) - GAP;
        at += canvas_text(c, a.row, at, a.cols, ROLE_VALUE, q->what);
        at += canvas_middle(c, a.row, at, room > 8 ? room : 8, ROLE_VALUE, q->name) + GAP;
    }
    canvas_head(c, a.row, at, end - at, ROLE_VALUE, q->rest);
}

/* How much of the tabs there is room for; that of the view that is up always has its title. */
enum titles { TITLES_NONE, TITLES_BRIEF, TITLES };

static const char *const brief[VIEWS] = {"methods", "threads", "tree", "locks", "flame",
                                         "alloc",   "lines",   "stat", "over"};

/* A view's tab as it is drawn, in the order of their keys: " 1 methods ", " 1". */
static const char *tab_text(const struct model *m, int k, enum live_view view, enum titles titles,
                            char *out, size_t size) {
    int i = k ? k - 1 : LIVE_OVERVIEW;
    char key[KEY_TEXT];
    keymap_key(config_keys(m->settings.config), (enum command)(COMMAND_METHODS + i), SCOPE_VIEWS,
               key);
    bool on = i == (int)view;
    const char *title = titles == TITLES || (on && titles == TITLES_NONE) ? views[i]->title
                        : titles == TITLES_BRIEF                          ? brief[i]
                                                                          : "";
    snprintf(out, size,
             on                 ? "[%c%s%s]"
             : titles == TITLES ? " %c%s%s "
                                : " %c%s%s",
             views[i]->key, title[0] ? " " : "", title);
    return out;
}

/* Titles of views that are not up give way to the question. */
static enum titles titles_in(const struct model *m, int room, enum live_view view) {
    for (enum titles t = TITLES; t > TITLES_NONE; t--) {
        char tab[KEY_TEXT + 32];
        int wanted = 0;
        for (int k = 0; k < VIEWS; k++)
            wanted += (int)strlen(tab_text(m, k, view, t, tab, sizeof tab));
        if (wanted <= room)
            return t;
    }
    return TITLES_NONE;
}

static int room_for_tabs(const struct canvas *c, const struct model *m, enum live_view view,
                         struct question *q) {
    char state[40];
    describe(m, view, q);
    int asked = question_cols(c, q);
    return c->cols - canvas_width(c, state_word(m, state, sizeof state)) - 2 -
           (asked ? asked + GAP : 0);
}

static int draw_titles(struct canvas *c, int row, const struct model *m, enum live_view view,
                       int room) {
    char tab[KEY_TEXT + 32];
    int at = 0;
    const enum titles titles = titles_in(m, room, view);
    for (int k = 0; k < VIEWS; k++)
        at += canvas_text(c, row, at, c->cols - at,
                          (k ? k - 1 : LIVE_OVERVIEW) == (int)view ? ROLE_TAB_ON : ROLE_TAB,
                          tab_text(m, k, view, titles, tab, sizeof tab));
    return at;
}

int header_tab_at(const struct canvas *c, const struct model *m, enum live_view view, int col) {
    struct question q;
    char tab[KEY_TEXT + 32];
    int at = 0;
    const enum titles titles = titles_in(m, room_for_tabs(c, m, view, &q), view);
    for (int k = 0; k < VIEWS; k++) {
        at += (int)strlen(tab_text(m, k, view, titles, tab, sizeof tab));
        if (col < at)
            return k ? k - 1 : LIVE_OVERVIEW;
    }
    return -1;
}

void header_draw_tabs(struct canvas *c, int row, const struct model *m, enum live_view view) {
    char tag[48], state[40];
    struct question q;
    int at = draw_titles(c, row, m, view, room_for_tabs(c, m, view, &q));
    snprintf(tag, sizeof tag, " %s ", state_word(m, state, sizeof state));
    int state_cols = canvas_width(c, tag);
    draw_question(c, (struct area){row, at + 1, 1, c->cols - at - state_cols - 2}, &q);
    canvas_right(c, row, c->cols - state_cols, state_cols,
                 m->held || m->status.phase != SESSION_RUNNING ? ROLE_STATE_HELD : ROLE_STATE, tag);
}
