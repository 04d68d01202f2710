#include "tui/view/view.h"

#include "core/base/format.h"
#include "core/report/event_trouble.h"
#include "tui/widget/chart.h"

#include <stdio.h>
#include <string.h>

#define HOT_PERCENT 10.0
#define LEAST_SHARE 0.05

const struct view_type *const views[VIEWS] = {
    &view_methods, &view_threads, &view_tree,   &view_locks,    &view_flame,
    &view_alloc,   &view_lines,   &view_status, &view_overview,
};

char view_tier_letter(enum frame_tier tier) {
    static const char letter[TIERS] = {' ', 'I', '1', '2', 'i'};
    return tier < TIERS ? letter[tier] : ' ';
}

const char *view_kind_word(enum method_kind kind) {
    static const char *const word[METHOD_KINDS] = {
        [METHOD_JAVA] = "java",     [METHOD_NATIVE] = "native", [METHOD_CPP] = "c++",
        [METHOD_KERNEL] = "kernel", [METHOD_CLASS] = "class",   [METHOD_STUB] = "stub",
        [METHOD_ERROR] = "error",   [METHOD_THREAD] = "thread", [METHOD_COMPILING] = "jit",
    };
    return kind < METHOD_KINDS ? word[kind] : "";
}

enum role view_frame_role(enum method_kind kind, enum frame_tier tier) {
    static const uint8_t by_tier[TIERS] = {ROLE_JAVA, ROLE_INTERPRETED, ROLE_C1, ROLE_JAVA,
                                           ROLE_INLINED};
    static const uint8_t by_kind[METHOD_KINDS] = {
        [METHOD_JAVA] = ROLE_JAVA,        [METHOD_NATIVE] = ROLE_NATIVE,
        [METHOD_CPP] = ROLE_CPP,          [METHOD_KERNEL] = ROLE_KERNEL,
        [METHOD_CLASS] = ROLE_INLINED,    [METHOD_STUB] = ROLE_NATIVE,
        [METHOD_ERROR] = ROLE_ERROR,      [METHOD_THREAD] = ROLE_VALUE,
        [METHOD_COMPILING] = ROLE_NATIVE,
    };
    if (kind == METHOD_JAVA && tier < TIERS)
        return by_tier[tier];
    return kind < METHOD_KINDS ? by_kind[kind] : ROLE_TEXT;
}

void view_percent(struct canvas *c, int row, int col, int cols, double percent) {
    struct format f = {""};
    canvas_right(c, row, col, cols, percent >= HOT_PERCENT ? ROLE_HOT : ROLE_NUMBER,
                 format_percent(&f, percent));
}

void view_name(struct canvas *c, int row, int col, int cols, enum role role, const char *name,
               enum method_kind kind, const struct model *m) {
    bool keep_head = kind == METHOD_CPP;
    if (kind == METHOD_THREAD) {
        canvas_middle(c, row, col, cols, role, name);
        return;
    }
    char brief[MODEL_NAME_SIZE];
    const char *parameters = kind == METHOD_JAVA ? strchr(name, '(') : NULL;
    if (parameters && canvas_width(c, name) > cols) { /* the name is more useful than these */
        snprintf(brief, sizeof brief, "%.*s", (int)(parameters - name), name);
        name = brief;
    }
    int drawn = keep_head ? canvas_head(c, row, col, cols, role, name)
                          : canvas_tail(c, row, col, cols, role, name);
    const char *filter = m->search[0] ? m->search : m->question.filter;
    const char *hit = filter[0] && filter[0] != '!' ? strcasestr(name, filter) : NULL;
    if (!hit)
        return;
    /* Columns of the match in the whole name, minus what was cut on the left. */
    int whole = canvas_width(c, name), cut = keep_head ? 0 : whole - drawn;
    int from = whole - canvas_width(c, hit) - cut;
    int to = whole - canvas_width(c, hit + strlen(filter)) - cut;
    from = from < 0 ? 0 : from;
    to = to > drawn ? drawn : to;
    canvas_role(c, row, col + from, to - from, ROLE_MATCH);
}

void view_other_share(struct canvas *c, int row, int col, double percent) {
    if (percent >= LEAST_SHARE) /* most rows have none, and zeros would hide the others */
        view_percent(c, row, col, VIEW_OTHER_COLS - 1, percent);
}

void view_weight(struct canvas *c, int row, int col, int cols, const struct model *m,
                 uint64_t weight, uint64_t samples) {
    const int event = m->asked.event;
    struct format f = {""};
    canvas_right(c, row, col, cols, ROLE_NUMBER,
                 event == WIRE_EVENT_CPU ? format_short_count(&f, samples)
                                         : format_weight(&f, event_kind_unit[event], weight));
}

const char *view_weight_head(const struct model *m) {
    const int event = m->asked.event;
    if (event == WIRE_EVENT_CPU)
        return "SAMPLES";
    const char *unit = event_kind_unit[event];
    return !strcmp(unit, "ns") ? "TIME" : !strcmp(unit, "bytes") ? "BYTES" : "COUNT";
}

void view_heads(struct canvas *c, struct area a, const char *heads) {
    canvas_text(c, a.row, a.col, a.cols, ROLE_COLUMNS, heads);
    canvas_role(c, a.row, a.col, a.cols, ROLE_COLUMNS);
}

void view_cursor_row(struct canvas *c, struct area a, int row) {
    canvas_text(c, row, a.col, 1, ROLE_CURSOR, ">");
    canvas_role(c, row, a.col, a.cols, ROLE_CURSOR);
}

void view_tag_mark(struct canvas *c, struct area a, int row, const struct model *m,
                   struct tag tag) {
    if (tags_find(&m->tags, tag) >= 0)
        canvas_text(c, row, a.col + VIEW_TAG_COL, 1, ROLE_TAGGED, "*");
}

bool view_matches(const struct model *m, const char *text) {
    return m->search[0] && strcasestr(text, m->search);
}

/* Returns the row of a mouse press, counted from the first one on screen (-1: the heads); -2:
 * none. */
static int view_mouse_row(struct area a, const struct mouse *press) {
    bool inside = press->row >= a.row && press->row < a.row + a.rows && press->col >= a.col &&
                  press->col < a.col + a.cols;
    return inside ? press->row - a.row - 1 : -2;
}

#define WHEEL_ROWS 3

bool view_mouse_list(struct cursor *k, struct area a, int heads, const struct mouse *press,
                     const struct cursor_rows *rows, bool *enter) {
    *enter = false;
    switch (press->action) {
    case MOUSE_WHEEL_UP:
        cursor_select(k, k->row > WHEEL_ROWS ? k->row - WHEEL_ROWS : 0, rows);
        return true;
    case MOUSE_WHEEL_DOWN:
        cursor_select(k, k->row + WHEEL_ROWS, rows);
        return true;
    case MOUSE_PRESS:
    case MOUSE_TWICE: {
        int row = view_mouse_row(a, press) + 1 - heads;
        if (row < 0 || k->top + (uint32_t)row >= rows->count)
            return false;
        cursor_select(k, k->top + (uint32_t)row, rows);
        *enter = press->action == MOUSE_TWICE;
        return true;
    }
    case MOUSE_DRAG:
    case MOUSE_RELEASE:
    case MOUSE_MOVE:
        break;
    }
    return false;
}

bool view_find_row(struct cursor *k, const struct cursor_rows *rows, int by, const struct model *m,
                   const char *(*text)(const void *arg, uint32_t row, char *out, size_t size),
                   const void *arg) {
    char name[1024];
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t step = by == 0 ? i : i + 1, count = rows->count;
        uint32_t row =
            by < 0 ? (k->row + 2 * count - step % count) % count : (k->row + step) % count;
        if (view_matches(m, text(arg, row, name, sizeof name))) {
            cursor_select(k, row, rows);
            return true;
        }
    }
    return false;
}

void view_spark(struct canvas *c, int row, int col, const struct model *m, const uint64_t *cell,
                uint64_t most) {
    if (!m->snapshot || !cell || !most)
        return;
    uint64_t any = 0;
    for (uint32_t i = 1; i < MODEL_SPARKS; i++)
        any |= cell[i];
    if (!any)
        return;
    /* The place of the oldest cell is the gap, where the next cell will be drawn. */
    canvas_text(c, row, col + (int)(m->snapshot->spark_from % MODEL_SPARKS), 1, ROLE_DIM,
                c->ascii_lines || c->ascii_text ? "|" : "\u2502");
    for (uint32_t i = 1; i < MODEL_SPARKS; i++) {
        uint64_t place = (m->snapshot->spark_from + i) % MODEL_SPARKS;
        chart_column(c, (struct area){row, col + (int)place, 1, 1}, ROLE_SPARK, cell[i], most);
    }
}

void view_change(struct canvas *c, int row, int col, int cols, const struct diff_change *change) {
    char text[24];
    if (change->percent < 0.05 && change->percent > -0.05)
        return;
    snprintf(text, sizeof text, "%+.1f%s", change->percent, change->chance ? " " : "*");
    canvas_right(c, row, col, cols,
                 change->chance        ? ROLE_DIM
                 : change->percent > 0 ? ROLE_MORE
                                       : ROLE_LESS,
                 text);
}

int view_editor(struct canvas *c, int row, const char *label, const struct line_editor *l) {
    int at = canvas_text(c, row, 0, c->cols, ROLE_EDITOR, label);
    char before[LINE_EDITOR_BYTES];
    memcpy(before, l->text, l->at);
    before[l->at] = '\0';
    at += canvas_tail(c, row, at, c->cols - at - 1, ROLE_EDITOR, before);
    canvas_text(c, row, at, c->cols, ROLE_EDITOR, l->text + l->at);
    return at;
}

/* Returns why an event that runs has no samples. `out` may be used for it. */
static const char *no_samples(const struct model *m, int event, char *out, size_t size) {
    static const char *const why[EVENT_KINDS] = {
        [WIRE_EVENT_CPU] = "nothing ran on a CPU since sampling began",
        [WIRE_EVENT_ALLOC] = "too little was allocated since sampling began",
        [WIRE_EVENT_NATIVEMEM] = "no native memory was requested since sampling began",
        [WIRE_EVENT_METHOD] = "it was not called since sampling began",
        [EVENT_LIVE] = "nothing that was sampled is still alive",
        [EVENT_LEAK] = "all that was sampled was freed",
    };
    struct format f = {""};
    if (event == WIRE_EVENT_LOCK || event == WIRE_EVENT_NATIVELOCK) {
        snprintf(out, size, "no thread waited for a lock longer than %s",
                 format_interval(&f, m->status.engine[event].interval));
        return out;
    }
    return why[event] ? why[event] : "it has not occurred since sampling began";
}

bool view_can_start(const struct model *m, int event) {
    return event < WIRE_EVENTS && m->source.set_engines && m->status.phase == SESSION_RUNNING &&
           !m->status.engine[event].runs && !m->status.engine[event].asked;
}

void view_empty(struct canvas *c, struct area a, const struct model *m) {
    const int event = m->question.event;
    const struct session_engine *e = &m->status.engine[event];
    char why[300], reason[80], key[KEY_TEXT];
    if (model_idle_percent(m) > 99.99)
        snprintf(why, sizeof why, "all threads here are idle: %s shows them",
                 keymap_key(m->settings.keys, COMMAND_IDLE, SCOPE_VIEWS, key));
    else if (m->question.narrowings)
        snprintf(why, sizeof why, "no samples here: Esc goes back, U removes every restriction");
    else if (m->counted[event] && (m->mark_second || m->span))
        snprintf(why, sizeof why, "no samples in this time: %s",
                 m->span && !m->mark_second ? "w chooses another window"
                                            : "m counts from the beginning again");
    else if (m->status.phase != SESSION_RUNNING)
        snprintf(why, sizeof why, "no samples were taken");
    else if (event_trouble_fails(e))
        snprintf(why, sizeof why, "%s cannot be sampled: %s", model_event_name(m, event),
                 event_trouble_why(e));
    else if (view_can_start(m, event))
        snprintf(why, sizeof why, "%s does not run: Enter starts it", model_event_name(m, event));
    else
        snprintf(why, sizeof why, "no samples yet: %s",
                 no_samples(m, event, reason, sizeof reason));
    canvas_head(c, a.row + 1, a.col + 2, a.cols - 2, ROLE_DIM, why);
}
