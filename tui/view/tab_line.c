#include "tui/view/tab_line.h"

#include "tui/view/view.h"
#include "core/base/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GAP 2
#define PART_MS 2000 /* a part of the time that is shorter by less is not worth a word */

/* What the view's numbers are limited to; each part is "" if there is no limit. */
struct question {
    char name[MODEL_NAME_SIZE]; /* name of a thread or method, which may be cut */
    const char *what;           /* what `name` is: "thread " */
    char rest[LINE_EDITOR_BYTES + MODEL_NAME_SIZE + 160];
};

/* Writes the state; if scrubbed, also how far back: "PAUSED -23s". Returns out. */
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
    if (m->held && m->scrubbed && back && !m->status.day_ns)
        snprintf(out, size, "PAUSED -%s", format_age(&f, back * 1000));
    else
        snprintf(out, size, "%s", m->held ? "PAUSED" : now);
    if (m->status.recording[0]) {
        size_t n = strlen(out);
        snprintf(out + n, size - n, " REC");
    }
    return out;
}

/* Appends a text behind two blanks. */
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

/* Writes the time of day at which a second begins. */
static const char *time_of(const struct model *m, struct format *f, uint64_t second) {
    return format_time(f, m->status.day_ns + (int64_t)(second * 1000000000));
}

/* While paused, the time shown stays the same, so it is written as times of day. */
static void describe_pause(const struct canvas *c, const struct model *m, struct question *out) {
    const struct model_window w = model_window(m);
    struct format from = {""}, to = {""}, length = {""};
    uint64_t end = m->held_second + 1;
    uint64_t begin = w.from > m->first_second ? w.from : m->first_second;
    time_of(m, &to, end);
    if (w.from && begin < end)
        add(out, "%s%s%s (%s)", time_of(m, &from, begin), c->ascii_text ? "-" : "\u2013", to.s,
            format_age(&length, (end - begin) * 1000));
    else
        add(out, "until %s", to.s);
}

static void describe_time(const struct canvas *c, const struct model *m, struct question *out) {
    const struct model_window w = model_window(m);
    struct format f = {""};
    uint64_t end = m->held ? m->held_second : m->newest_second;
    if (m->held && m->status.day_ns && m->held_second)
        describe_pause(c, m, out);
    else if (w.from && w.from == m->mark_second)
        add(out, "since the mark, %s", format_age(&f, end >= w.from ? (end - w.from) * 1000 : 0));
    else if (w.from && m->span % 60 == 0)
        add(out, m->held ? "%" PRIu64 "m window" : "last %" PRIu64 "m", m->span / 60);
    else if (w.from)
        add(out, m->held ? "%s window" : "last %s", format_age(&f, m->span * 1000));
}

/* An event that was started later, or stopped meanwhile, was sampled in a part of the time. Rates
 * are over that part. */
static void describe_part(const struct model *m, bool locks, struct question *out) {
    const struct model_window w = model_window(m);
    const struct snapshot *s = m->snapshot;
    uint64_t end = m->held ? m->held_second : m->newest_second;
    uint64_t from = w.from > m->first_second ? w.from : m->first_second;
    uint64_t ms = s ? (locks ? s->locks_sampled_ns : s->sampled_ns) / 1000000 : 0;
    struct format f = {""};
    if (ms && end > from && ms + PART_MS < (end - from) * 1000)
        add(out, "%s sampled for %s", model_event_name(m, locks ? WIRE_EVENT_LOCK : m->asked.event),
            format_age(&f, ms));
    if (locks && s && s->locks_from > from && end >= s->locks_from)
        add(out, "only waits of the last %s", format_age(&f, (end - s->locks_from + 1) * 1000));
}

/* Names what keeps a baseline from being compared, besides its event. */
static const char *difference_of(const struct model_question *baseline,
                                 const struct model_question *now) {
    if (baseline->event != now->event)
        return "";
    if (baseline->fold_natives != now->fold_natives)
        return baseline->fold_natives ? ", native folded" : ", native not folded";
    return baseline->idle ? " with idle" : " without idle";
}

static void describe_comparison(const struct model *m, struct question *out) {
    struct format f = {""};
    uint64_t now = m->held ? m->held_second : m->newest_second;
    if (!m->baseline)
        return;
    if (!model_same_event(&m->baseline_asked, &m->question))
        add(out, "baseline is of %s%s", model_event_name(m, m->baseline_asked.event),
            difference_of(&m->baseline_asked, &m->question));
    else if (now >= m->baseline_second)
        add(out, "vs %s ago", format_age(&f, (now - m->baseline_second) * 1000));
    else
        add(out, "vs %s later", format_age(&f, (m->baseline_second - now) * 1000));
}

/* How much of the question is drawn. A narrow screen leaves out the usual window first. */
enum extent { BARE, SHARE, WHOLE };

static void describe_question(const struct canvas *c, const struct model *m, enum live_view view,
                              enum extent extent, struct question *out) {
    const struct model_question *q = &m->question;
    *out = (struct question){.what = ""};
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
        add(out, "\\%s%s", q->filter,
            m->snapshot && m->snapshot->filter_gave_up ? " (regex slow: incomplete)" : "");
    bool locks = view == LIVE_LOCKS;
    bool chosen = (m->span && !m->span_is_default) || m->mark_second || m->scrubbed;
    if (extent >= SHARE && !locks && (q->narrowings || chosen) && m->snapshot) {
        struct format f = {""};
        uint64_t all = model_hides_idle(q) ? m->active_samples : m->samples[q->event];
        add(out, "%s%% of all", format_percent(&f, percent_of(m->snapshot->samples, all)));
    }
    if (!locks && m->snapshot && model_idle_percent(m) >= 0)
        add(out, "idle hidden (%.0f %%)", model_idle_percent(m));
    if (!locks && m->snapshot && m->snapshot->folds_natives)
        add(out, "native folded");
    if (q->carriers && !q->virtual_id)
        add(out, "by carrier");
    if (extent == WHOLE || !q->narrowings || m->held || !m->span_is_default || m->mark_second)
        describe_time(c, m, out);
    if (extent == WHOLE)
        describe_part(m, locks, out);
    if (!locks)
        describe_comparison(m, out);
}

static int question_cols(const struct canvas *c, const struct question *q) {
    return canvas_width(c, q->rest) +
           (q->name[0] ? canvas_width(c, q->what) + canvas_width(c, q->name) + GAP : 0);
}

/* Draws the question. If there is little room, the name is cut. */
static void draw_question(struct canvas *c, struct area a, const struct question *q) {
    int at = a.col, end = a.col + a.cols;
    if (q->name[0]) {
        int room = a.cols - canvas_width(c, q->rest) - canvas_width(c, q->what) - GAP;
        at += canvas_text(c, a.row, at, a.cols, ROLE_VALUE, q->what);
        at += canvas_middle(c, a.row, at, room > 8 ? room : 8, ROLE_VALUE, q->name) + GAP;
    }
    canvas_head(c, a.row, at, end - at, ROLE_VALUE, q->rest);
}

/* How much of the tabs' titles is drawn. The tab of the view on screen always has its title. Without
 * titles, which only very narrow screens need, there are only the keys. */
enum titles { TITLES_NONE, TITLES_SHORT, TITLES_BRIEF, TITLES };
#define SHORT_COLS 60    /* a screen of this width has room for short titles */
#define SHORTEST_COLS 54 /* that all short titles take at most */

static const char *const brief[VIEWS] = {"methods", "threads", "tree", "locks", "flame",
                                         "alloc",   "lines",   "stat", "over"};
static const char *const shortest[VIEWS] = {"met", "thr", "tre", "lck", "flm",
                                            "alc", "lin", "sta", "ovr"};

/* Writes a view's tab as it is drawn, in the order of keys: " 1 methods ", " 1". Returns out. */
static const char *tab_text(const struct model *m, int k, enum live_view view, enum titles titles,
                            char *out, size_t size) {
    int i = k ? k - 1 : LIVE_OVERVIEW;
    char key[KEY_TEXT];
    keymap_key(m->settings.keys, (enum command)(COMMAND_METHODS + i), SCOPE_VIEWS, key);
    bool on = i == (int)view;
    const char *title = on && titles != TITLES_BRIEF ? views[i]->title
                        : titles == TITLES           ? views[i]->title
                        : titles == TITLES_BRIEF     ? brief[i]
                        : titles == TITLES_SHORT     ? shortest[i]
                                                     : "";
    const char *blank = title[0] && (on || titles != TITLES_SHORT) ? " " : "";
    snprintf(out, size,
             on                 ? "[%c%s%s]"
             : titles == TITLES ? " %c%s%s "
                                : " %c%s%s",
             views[i]->key, blank, title);
    return out;
}

/* Returns how much of the titles fits beside the question. Short titles stay even if the question
 * has to be cut for them. */
static enum titles titles_in(const struct canvas *c, const struct model *m, int room,
                             enum live_view view) {
    const enum titles least = c->cols >= SHORT_COLS ? TITLES_SHORT : TITLES_NONE;
    for (enum titles t = TITLES; t > least; t--) {
        char tab[KEY_TEXT + 32];
        int wanted = 0;
        for (int k = 0; k < VIEWS; k++)
            wanted += (int)strlen(tab_text(m, k, view, t, tab, sizeof tab));
        if (wanted <= room)
            return t;
    }
    return least;
}

static int room_for_tabs(const struct canvas *c, const struct model *m, enum live_view view,
                         struct question *q) {
    char state[40];
    int room = c->cols - canvas_width(c, state_word(m, state, sizeof state)) - 2, asked = 0;
    for (int extent = WHOLE; extent >= BARE; extent--) {
        describe_question(c, m, view, (enum extent)extent, q);
        asked = question_cols(c, q);
        if (c->cols < SHORT_COLS || asked + GAP + SHORTEST_COLS <= room)
            break;
    }
    return room - (asked ? asked + GAP : 0);
}

static int draw_titles(struct canvas *c, int row, const struct model *m, enum live_view view,
                       int room) {
    char tab[KEY_TEXT + 32];
    int at = 0;
    const enum titles titles = titles_in(c, m, room, view);
    for (int k = 0; k < VIEWS; k++)
        at += canvas_text(c, row, at, c->cols - at,
                          (k ? k - 1 : LIVE_OVERVIEW) == (int)view ? ROLE_TAB_ON : ROLE_TAB,
                          tab_text(m, k, view, titles, tab, sizeof tab));
    return at;
}

int tab_line_at(const struct canvas *c, const struct model *m, enum live_view view, int col) {
    struct question q;
    char tab[KEY_TEXT + 32];
    int at = 0;
    const enum titles titles = titles_in(c, m, room_for_tabs(c, m, view, &q), view);
    for (int k = 0; k < VIEWS; k++) {
        at += (int)strlen(tab_text(m, k, view, titles, tab, sizeof tab));
        if (col < at)
            return k ? k - 1 : LIVE_OVERVIEW;
    }
    return -1;
}

void tab_line_draw(struct canvas *c, int row, const struct model *m, enum live_view view) {
    char tag[48], state[40];
    struct question q;
    int at = draw_titles(c, row, m, view, room_for_tabs(c, m, view, &q));
    snprintf(tag, sizeof tag, " %s ", state_word(m, state, sizeof state));
    int state_cols = canvas_width(c, tag);
    draw_question(c, (struct area){row, at + 1, 1, c->cols - at - state_cols - 2}, &q);
    canvas_right(c, row, c->cols - state_cols, state_cols,
                 m->held || m->status.phase != SESSION_RUNNING ? ROLE_STATE_HELD : ROLE_STATE, tag);
}
