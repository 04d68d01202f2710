/*
 * The overview view: the most important facts on one screen. It shows the findings, the last
 * minutes, the hottest methods and threads, and, if they are sampled, the classes with most
 * allocation and the locks with the longest waits. On a narrow screen, the same is one list.
 */
#include "tui/model/finding.h"
#include "tui/model/overview_graph.h"
#include "tui/view/view.h"
#include "core/base/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BESIDE_COLS 70   /* from this width on, two lists stand side by side */
#define FIGURES_COLS 110 /* from this width on, the heap's figures are beside the graph */
#define SPARK_COLS 88    /* width of a list of methods with sparklines */
#define FIGURE_COLS 10   /* width of a figure's label */
#define TOP_COLS 56      /* width of a list of threads with their methods */
enum { FINDINGS_SHOWN = 8, ROWS_SHOWN = 24, OTHERS_SHOWN = 8 };
enum { NARROW_FINDINGS = 4, NARROW_ROWS = 10 };

enum kind { FINDING, METHOD, THREAD, CLASS, LOCK, KINDS };

/* A row that the cursor can select. */
struct spot {
    enum kind kind;
    uint32_t at; /* finding; or row of the snapshot, model, classes or locks */
    int row, col, cols;
};

#define SPOTS_MAX (FINDINGS_SHOWN + 2 * ROWS_SHOWN + 2 * OTHERS_SHOWN)

struct overview_state {
    struct cursor cursor;
    struct finding finding[FINDINGS_MAX];
    uint32_t classes[OTHERS_SHOWN], locks[OTHERS_SHOWN]; /* row numbers in their snapshots */
    uint32_t have[KINDS];                                /* existing rows, by kind */
    uint32_t show[KINDS];                                /* of these, rows on screen */
    const struct model *model;
    struct spot spot[SPOTS_MAX];
    uint32_t spots;
};

static void *open_overview(const struct model *m) {
    struct overview_state *v = calloc(1, sizeof *v);
    if (v)
        v->model = m;
    return v;
}

static void want(void *state, struct model_question *q) {
    (void)state;
    q->locks = q->others = q->sparks = true;
}

/* Returns the snapshot that counts the classes: the answer, or the rows of another event. */
static const struct snapshot *allocations(const struct model *m) {
    return m->asked.event == WIRE_EVENT_ALLOC ? m->snapshot : m->rows[WIRE_EVENT_ALLOC].snapshot;
}

static uint32_t find_classes(const struct model *m, uint32_t out[OTHERS_SHOWN]) {
    const struct snapshot *s = allocations(m);
    uint32_t n = 0;
    for (uint32_t i = 0; s && i < s->method_count && s->methods[i].self && n < OTHERS_SHOWN; i++)
        if (model_method(m, s->methods[i].method)->kind == METHOD_CLASS)
            out[n++] = i;
    return n;
}

static uint32_t find_locks(const struct model *m, uint32_t out[OTHERS_SHOWN]) {
    const struct snapshot *s = m->snapshot;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->lock_count && n < OTHERS_SHOWN; i++)
        if (s->locks[i].is_class)
            out[n++] = i;
    return n;
}

/* Returns the row of a class. NULL: its rows were removed. */
static const struct snapshot_method *class_row(const struct model *m, const struct spot *s) {
    const struct snapshot *all = allocations(m);
    return all && s->at < all->method_count ? &all->methods[s->at] : NULL;
}

/* Returns the class of an allocation or lock. */
static uint32_t class_of(const struct model *m, const struct spot *s) {
    const struct snapshot_method *r = s->kind == CLASS ? class_row(m, s) : NULL;
    return s->kind == LOCK ? m->snapshot->locks[s->at].class_id : r ? r->method : METHOD_NONE;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint64_t spot_id(const void *arg, uint32_t row) {
    const struct overview_state *v = arg;
    const struct spot *s = &v->spot[row];
    const struct model *m = v->model;
    uint64_t id = 0;
    switch (s->kind) {
    case FINDING:
        id = (uint64_t)v->finding[s->at].what;
        break;
    case METHOD:
        id = m->snapshot->methods[s->at].method;
        break;
    case THREAD: {
        const struct model_thread *t = &m->threads[s->at];
        id = model_thread_key(t->is_virtual, t->java_id, t->tid, t->state == 'X');
        break;
    }
    case CLASS:
    case LOCK:
        id = class_of(m, s);
        break;
    case KINDS:
        break;
    }
    return id * KINDS + (uint64_t)s->kind;
}

static struct cursor_rows rows_of(const struct overview_state *v) {
    return (struct cursor_rows){.count = v->spots, .item = spot_id, .arg = v};
}

/* Lists the rows shown, in the order in which the cursor moves. */
static void list_spots(struct overview_state *v) {
    v->spots = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        uint32_t n = least(v->show[kind], v->have[kind]);
        for (uint32_t i = 0; i < n && v->spots < SPOTS_MAX; i++)
            v->spot[v->spots++] = (struct spot){.kind = (enum kind)kind,
                                                .at = kind == CLASS  ? v->classes[i]
                                                      : kind == LOCK ? v->locks[i]
                                                                     : i};
    }
    struct cursor_rows rows = rows_of(v);
    cursor_follow(&v->cursor, &rows);
    if (v->cursor.row >= v->spots)
        v->cursor.row = v->spots ? v->spots - 1 : 0;
}

static void update(void *state, const struct model *m) {
    struct overview_state *v = state;
    uint32_t threads = 0;
    while (threads < m->thread_count && threads < ROWS_SHOWN && m->threads[threads].weight)
        threads++;
    v->have[FINDING] = least((uint32_t)finding_list(m, v->finding), FINDINGS_SHOWN);
    v->have[METHOD] = least(m->snapshot->method_count, ROWS_SHOWN);
    v->have[THREAD] = threads;
    v->have[CLASS] = find_classes(m, v->classes);
    v->have[LOCK] = find_locks(m, v->locks);
    list_spots(v);
}

/* Writes the text of a row, also for search and copy. */
static const char *spot_text(const void *arg, uint32_t row, char *out, size_t size) {
    const struct overview_state *v = arg;
    const struct spot *s = &v->spot[row];
    const struct model *m = v->model;
    out[0] = '\0';
    switch (s->kind) {
    case FINDING:
        snprintf(out, size, "%s", v->finding[s->at].text);
        break;
    case METHOD:
        model_method_name(m, m->snapshot->methods[s->at].method, out, size);
        break;
    case THREAD:
        model_thread_name(&m->threads[s->at], out, size);
        break;
    case CLASS:
    case LOCK:
        frame_name(model_method(m, class_of(m, s)), m->style & ~(unsigned)NAME_MARKS, out, size);
        break;
    case KINDS:
        break;
    }
    return out;
}

static uint64_t most_in_spark(const struct overview_state *v) {
    const struct snapshot *s = v->model->snapshot;
    uint64_t most = 0;
    for (uint32_t i = 0; s->method_spark && i < v->have[METHOD] * MODEL_SPARKS; i++)
        most = s->method_spark[i] > most ? s->method_spark[i] : most;
    return most;
}

static void draw_method(const struct overview_state *v, struct canvas *c, const struct spot *p,
                        const struct model *m, uint64_t most) {
    const struct snapshot_method *r = &m->snapshot->methods[p->at];
    enum method_kind kind = model_method(m, r->method)->kind;
    char name[1024];
    int x = p->col + 16;
    view_percent(c, p->row, p->col + 2, 5, percent_of(r->self, m->snapshot->weight));
    view_percent(c, p->row, p->col + 8, 6, percent_of(r->total, m->snapshot->weight));
    if (p->cols >= SPARK_COLS && m->snapshot->method_spark) {
        view_spark(c, p->row, x, m, &m->snapshot->method_spark[(size_t)p->at * MODEL_SPARKS], most);
        x += (int)MODEL_SPARKS + 1;
    }
    (void)v;
    view_name(c, p->row, x, p->col + p->cols - x - 1,
              view_frame_role(kind, snapshot_main_tier(r->tier)),
              model_method_name(m, r->method, name, sizeof name), kind, m);
}

static void draw_thread(struct canvas *c, const struct spot *p, const struct model *m) {
    const struct model_thread *t = &m->threads[p->at];
    struct format f = {""};
    char name[1024];
    int x = p->col + 18, room = p->col + p->cols - x;
    view_percent(c, p->row, p->col + 2, 6, percent_of(t->weight, m->snapshot->weight));
    if (t->cpu_percent >= 0)
        canvas_right(c, p->row, p->col + 9, 6, ROLE_NUMBER, format_percent(&f, t->cpu_percent));
    canvas_textf(c, p->row, p->col + 16, 1, ROLE_DIM, "%c", t->state);
    int name_cols = p->cols >= TOP_COLS ? room / 2 : room;
    canvas_middle(c, p->row, x, name_cols - 1, ROLE_TEXT, model_thread_name(t, name, sizeof name));
    if (p->cols < TOP_COLS || t->top_method == METHOD_NONE)
        return;
    enum method_kind kind = model_method(m, t->top_method)->kind;
    view_name(c, p->row, x + name_cols, room - name_cols, view_frame_role(kind, TIER_C2),
              model_method_name(m, t->top_method, name, sizeof name), kind, m);
}

static void draw_class(const struct overview_state *v, struct canvas *c, const struct spot *p,
                       const struct model *m) {
    const struct snapshot *s = allocations(m);
    const struct snapshot_method *r = class_row(m, p);
    struct format f = {""};
    char name[1024];
    if (!r)
        return;
    view_percent(c, p->row, p->col + 2, 6, percent_of(r->self, s->weight));
    canvas_right(c, p->row, p->col + 9, 6, ROLE_NUMBER,
                 format_bytes(&f, snapshot_per_second(s, r->self)));
    canvas_tail(c, p->row, p->col + 16, p->cols - 17, ROLE_VALUE,
                spot_text(v, (uint32_t)(p - v->spot), name, sizeof name));
}

static void draw_lock(const struct overview_state *v, struct canvas *c, const struct spot *p,
                      const struct model *m) {
    const struct snapshot_lock *l = &m->snapshot->locks[p->at];
    struct format f = {""};
    char name[1024];
    canvas_right(c, p->row, p->col + 2, 6, ROLE_NUMBER, format_short_count(&f, l->waits));
    canvas_right(c, p->row, p->col + 9, 6, ROLE_NUMBER, format_duration(&f, l->waited_ns));
    canvas_tail(c, p->row, p->col + 16, p->cols - 17, ROLE_VALUE,
                spot_text(v, (uint32_t)(p - v->spot), name, sizeof name));
}

static void draw_spot(const struct overview_state *v, struct canvas *c, const struct spot *p,
                      const struct model *m, uint64_t most) {
    switch (p->kind) {
    case FINDING: {
        const struct finding *f = &v->finding[p->at];
        canvas_text(c, p->row, p->col + 2, 1, f->is_worse ? ROLE_WARNING : ROLE_GLYPH,
                    f->is_worse ? "!" : canvas_glyph(c, GLYPH_LEAF));
        canvas_head(c, p->row, p->col + 4, p->cols - 4, f->is_worse ? ROLE_WARNING : ROLE_VALUE,
                    f->text);
        break;
    }
    case METHOD:
        draw_method(v, c, p, m, most);
        break;
    case THREAD:
        draw_thread(c, p, m);
        break;
    case CLASS:
        draw_class(v, c, p, m);
        break;
    case LOCK:
        draw_lock(v, c, p, m);
        break;
    case KINDS:
        break;
    }
}

static const char *head_of(enum kind kind) {
    static const char *const head[KINDS] = {
        [FINDING] = "  WHAT STANDS OUT",       [METHOD] = "  SELF% TOTAL%  METHOD",
        [THREAD] = "  SHARE%   CPU% S THREAD", [CLASS] = "  ALLOC%     /s ALLOCATED CLASS",
        [LOCK] = "   WAITS  TOTAL LOCK CLASS",
    };
    return head[kind];
}

static void draw_head(struct canvas *c, struct area a, enum kind kind, bool sparks) {
    view_heads(c, a, head_of(kind));
    if (kind == METHOD && sparks && a.cols >= SPARK_COLS) {
        canvas_text(c, a.row, a.col + 16, a.cols - 16, ROLE_COLUMNS, "LAST MINUTE  METHOD");
    } else if (kind == THREAD && a.cols >= TOP_COLS) {
        int x = 18 + (a.cols - 18) / 2;
        canvas_text(c, a.row, a.col + x, a.cols - x, ROLE_COLUMNS, "IN");
    }
}

/* Draws a head, and places the rows of that kind below it. */
static void place(struct overview_state *v, struct canvas *c, struct area a, enum kind kind,
                  bool sparks) {
    int row = a.row + 1;
    draw_head(c, a, kind, sparks);
    for (uint32_t i = 0; i < v->spots; i++) {
        struct spot *p = &v->spot[i];
        if (p->kind != kind)
            continue;
        p->row = row++;
        p->col = a.col;
        p->cols = a.cols;
    }
}

static void figure(struct canvas *c, struct area a, int row, const char *label, const char *text) {
    if (row >= a.rows)
        return;
    canvas_text(c, a.row + row, a.col, 9, ROLE_LABEL, label);
    canvas_head(c, a.row + row, a.col + FIGURE_COLS, a.cols - FIGURE_COLS, ROLE_VALUE, text);
}

/* Draws the heap's use as a bar, as wide as there is room for. */
static void draw_heap(struct canvas *c, struct area a, const struct jvm *j) {
    enum { BAR = 24 };
    struct format f = {""};
    char text[64], bar[BAR + 1];
    uint64_t most = j->heap_max_bytes ? j->heap_max_bytes : j->heap_capacity_bytes;
    double part = percent_of(j->heap_used_bytes, most);
    int rest = snprintf(text, sizeof text, "%3.0f%% of %s", part, format_bytes(&f, most));
    int room = a.cols - FIGURE_COLS - rest - 3, cols = room < BAR ? room : BAR;
    if (!most || cols < 4) {
        figure(c, a, 0, "heap", most ? text : "not known");
        return;
    }
    int full = (int)(part / 100 * cols + 0.5);
    memset(bar, '.', (size_t)cols);
    memset(bar, '#', (size_t)(full > cols ? cols : full));
    bar[cols] = '\0';
    char line[BAR + sizeof text + 4];
    snprintf(line, sizeof line, "[%s] %s", bar, text);
    figure(c, a, 0, "heap", line);
}

static void draw_figures(struct canvas *c, struct area a, const struct model *m) {
    const struct jvm *j = &m->jvm;
    struct findings_pauses p = finding_pauses(m);
    struct format f = {""}, g = {""};
    char text[160];
    int row = 1;
    draw_heap(c, a, j);
    if (j->perf_data) {
        snprintf(text, sizeof text, "%" PRIu64 ", %s in all", j->gc_count,
                 format_duration(&f, j->gc_time_ms * 1000000));
        figure(c, a, row++, "gc", text);
    }
    if (!p.seconds)
        return;
    uint64_t whole = p.seconds * UINT64_C(1000000000);
    snprintf(text, sizeof text, "%s%% of the last %us by gc, %s%% by other safepoints",
             format_percent(&f, percent_of(p.paused_ns[0], whole)), p.seconds,
             format_percent(&g, percent_of(p.paused_ns[1], whole)));
    figure(c, a, row++, "paused", text);
    snprintf(text, sizeof text, "%s gc, %s other", format_duration(&f, p.most_ns[0]),
             format_duration(&g, p.most_ns[1]));
    figure(c, a, row, "worst 1s", text);
}

static void draw_graph(struct canvas *c, struct area a, const struct model *m) {
    bool figures = a.cols >= FIGURES_COLS;
    overview_graph_draw(c, a, m);
    if (figures)
        draw_figures(c,
                     (struct area){a.row, a.col + OVERVIEW_GRAPH_COLS + 2, a.rows,
                                   a.cols - OVERVIEW_GRAPH_COLS - 2},
                     m);
}

/* Number of rows of each part. */
struct plan {
    int findings, graph, lists, others; /* heads included; 0: not shown */
    bool gaps;
};

static struct plan make_plan(const struct overview_state *v, int rows) {
    struct plan p = {.gaps = rows >= 28};
    bool others = v->have[CLASS] || v->have[LOCK];
    uint32_t findings = least(v->have[FINDING], rows >= 38   ? FINDINGS_SHOWN
                                                : rows >= 28 ? 6
                                                : rows >= 15 ? 3
                                                             : 2);
    p.findings = 1 + (int)findings;
    p.graph = rows >= 34 ? 6 : rows >= 28 ? 5 : rows >= 15 ? 3 : 0;
    int left = rows - p.findings - p.graph - (p.gaps ? 2 + others : 0);
    if (others && left >= 8)
        p.others = 1 + (int)least(OTHERS_SHOWN, (uint32_t)left / 4);
    p.lists = left - p.others;
    p.lists = p.lists > 1 + ROWS_SHOWN ? 1 + ROWS_SHOWN : p.lists < 0 ? 0 : p.lists;
    return p;
}

static void draw_two(struct overview_state *v, struct canvas *c, struct area a,
                     const struct plan *p, const struct model *m) {
    int gap = p->gaps ? 1 : 0, row = a.row, left = a.cols * 3 / 5;
    bool sparks = m->snapshot->method_spark != NULL;
    place(v, c, (struct area){row, a.col, p->findings, a.cols}, FINDING, sparks);
    row += p->findings + gap;
    if (p->graph) {
        draw_graph(c, (struct area){row, a.col, p->graph, a.cols}, m);
        row += p->graph + gap;
    }
    place(v, c, (struct area){row, a.col, p->lists, left}, METHOD, sparks);
    place(v, c, (struct area){row, a.col + left, p->lists, a.cols - left}, THREAD, sparks);
    row += p->lists + gap;
    if (!p->others)
        return;
    if (v->have[CLASS])
        place(v, c, (struct area){row, a.col, p->others, v->have[LOCK] ? left : a.cols}, CLASS,
              sparks);
    if (v->have[LOCK])
        place(v, c,
              (struct area){row, a.col + (v->have[CLASS] ? left : 0), p->others,
                            v->have[CLASS] ? a.cols - left : a.cols},
              LOCK, sparks);
}

static void mark(struct canvas *c, const struct spot *p) {
    view_cursor_row(c, (struct area){p->row, p->col, 1, p->cols}, p->row);
}

static int draw_wide(struct overview_state *v, struct canvas *c, struct area a,
                     const struct model *m) {
    struct plan p = make_plan(v, a.rows);
    const uint32_t lists = (uint32_t)(p.lists > 1 ? p.lists - 1 : 0);
    const uint32_t others = (uint32_t)(p.others > 1 ? p.others - 1 : 0);
    v->show[FINDING] = (uint32_t)p.findings - 1;
    v->show[METHOD] = v->show[THREAD] = lists;
    v->show[CLASS] = v->show[LOCK] = others;
    list_spots(v);
    draw_two(v, c, a, &p, m);
    uint64_t most = most_in_spark(v);
    for (uint32_t i = 0; i < v->spots; i++)
        draw_spot(v, c, &v->spot[i], m, most);
    v->cursor.page = lists;
    if (!v->spots)
        return a.row;
    mark(c, &v->spot[v->cursor.row]);
    return v->spot[v->cursor.row].row;
}

/* Draws one list with a single row of heads, because every row is needed. */
static int draw_narrow(struct overview_state *v, struct canvas *c, struct area a,
                       const struct model *m) {
    uint32_t page = a.rows > 1 ? (uint32_t)a.rows - 1 : 0;
    v->show[FINDING] = NARROW_FINDINGS;
    v->show[METHOD] = v->show[THREAD] = NARROW_ROWS;
    v->show[CLASS] = v->show[LOCK] = OTHERS_SHOWN;
    list_spots(v);
    cursor_fit(&v->cursor, v->spots, page);
    view_heads(c, a, head_of(v->spots ? v->spot[v->cursor.row].kind : FINDING));
    for (uint32_t i = 0; i < v->spots; i++)
        v->spot[i].row = -1;
    for (uint32_t i = 0; i < page && v->cursor.top + i < v->spots; i++) {
        struct spot *p = &v->spot[v->cursor.top + i];
        p->row = a.row + 1 + (int)i;
        p->col = a.col;
        p->cols = a.cols;
        draw_spot(v, c, p, m, 0);
    }
    if (!page || !v->spots)
        return a.row;
    mark(c, &v->spot[v->cursor.row]);
    return v->spot[v->cursor.row].row;
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct overview_state *v = state;
    if (m->snapshot)
        return a.cols < BESIDE_COLS ? draw_narrow(v, c, a, m) : draw_wide(v, c, a, m);
    view_heads(c, a, head_of(FINDING));
    view_empty(c, a, m);
    return a.row;
}

static bool subject(const void *state, const struct model *m, struct view_subject *out) {
    const struct overview_state *v = state;
    *out = (struct view_subject){.method = METHOD_NONE};
    if (v->cursor.row >= v->spots)
        return false;
    const struct spot *s = &v->spot[v->cursor.row];
    if (s->kind == METHOD)
        out->method = m->snapshot->methods[s->at].method;
    else if (s->kind == THREAD)
        out->thread = &m->threads[s->at];
    else if (s->kind == FINDING)
        *out = (struct view_subject){v->finding[s->at].method, v->finding[s->at].thread};
    return out->method != METHOD_NONE || out->thread;
}

/* Goes to the method's tree, the thread's methods, or the view with more about it. */
static enum view_outcome enter(const struct overview_state *v, struct model *m) {
    struct view_subject on;
    if (v->cursor.row >= v->spots)
        return VIEW_IGNORED;
    const struct spot *s = &v->spot[v->cursor.row];
    if (subject(v, m, &on)) {
        if (on.method == METHOD_NONE && !model_zoom(m, on.thread))
            return VIEW_DONE;
        if (on.method != METHOD_NONE) {
            model_narrow_method(m, on.method);
            m->question.inverted = true; /* show its callers */
            if (s->kind == FINDING)
                m->question.event = v->finding[s->at].event;
        }
        return view_go(on.method != METHOD_NONE ? LIVE_TREE : LIVE_METHODS);
    }
    int view = s->kind == CLASS  ? (int)LIVE_ALLOC
               : s->kind == LOCK ? (int)LIVE_LOCKS
                                 : finding_view(&v->finding[s->at]);
    return view < 0 ? VIEW_DONE : view_go((enum live_view)view);
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct overview_state *v = state;
    struct cursor_rows rows = rows_of(v);
    if (!m->snapshot)
        return VIEW_IGNORED;
    if (cmd == COMMAND_ENTER)
        return enter(v, m);
    return cursor_command(&v->cursor, cmd, &rows) ? VIEW_DONE : VIEW_IGNORED;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    struct overview_state *v = state;
    struct cursor_rows rows = rows_of(v);
    if (press->action == MOUSE_MOVE || press->action == MOUSE_DRAG ||
        press->action == MOUSE_RELEASE || !m->snapshot)
        return VIEW_IGNORED;
    if (press->action == MOUSE_WHEEL_UP || press->action == MOUSE_WHEEL_DOWN) {
        bool enters;
        view_mouse_list(&v->cursor, a, 1, press, &rows, &enters);
        return VIEW_DONE;
    }
    for (uint32_t i = 0; i < v->spots; i++) {
        const struct spot *s = &v->spot[i];
        if (press->row != s->row || press->col < s->col || press->col >= s->col + s->cols)
            continue;
        cursor_select(&v->cursor, i, &rows);
        return press->action == MOUSE_TWICE ? enter(v, m) : VIEW_DONE;
    }
    return VIEW_IGNORED;
}

static bool find(void *state, int by, const struct model *m) {
    struct overview_state *v = state;
    struct cursor_rows rows = rows_of(v);
    return m->snapshot && view_find_row(&v->cursor, &rows, by, m, spot_text, v);
}

static void leave(const void *state, const struct model *m, struct view_place *out) {
    const struct overview_state *v = state;
    (void)m;
    *out = (struct view_place){.cursor = v->cursor, .method = METHOD_NONE};
}

static void come_back(void *state, const struct view_place *p) {
    ((struct overview_state *)state)->cursor = p->cursor;
}

static void copy(const void *state, const struct model *m, uint32_t row, struct text *out) {
    (void)row; /* the cursor's */
    const struct overview_state *v = state;
    char text[1024];
    if (m->snapshot && v->cursor.row < v->spots)
        text_addf(out, "%s\n", spot_text(v, v->cursor.row, text, sizeof text));
}

const struct view_type view_overview = {
    .title = "overview",
    .name = "overview",
    .key = '0',
    .scope = SCOPE_OVERVIEW,
    .event = -1,
    .open = open_overview,
    .close = free,
    .want = want,
    .update = update,
    .draw = draw,
    .command = command,
    .mouse = mouse,
    .find = find,
    .subject = subject,
    .leave = leave,
    .come_back = come_back,
    .copy = copy,
};
