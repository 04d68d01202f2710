/*
 * The lines view: where in a method its time is spent, beside its source if that is found. The
 * method is the one of a jump from another view, or the hottest Java method.
 */
#include "core/source/line_rows.h"
#include "core/source/source_archive.h"
#include "core/source/source_finder.h"
#include "tui/view/view.h"
#include "tui/widget/cursor.h"
#include "core/base/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Positions of the columns; the source takes the rest. */
enum { SELF = 2, TOTAL = 8, WEIGHT = 15, BAR = 23, LINE = 32, LINE_COLS = 5 };
enum { NARROW_LINE = 8 };
#define BAR_COLS 8
#define BAR_SCREEN_COLS 100
#define HEADS 2 /* the method's row, the columns' row */
#define TITLE_COLS 40
#define CONTEXT_LEAST 4u
#define CONTEXT_MOST 64u /* CONTEXT_LEAST times a power of two */

struct lines_state {
    const struct model *model;
    struct cursor cursor;
    struct line_rows rows;
    struct source_finder *finder;
    const struct source_file *source; /* owned by the finder; NULL: none */
    uint32_t method;
    uint32_t context; /* lines shown around those with samples */
    bool placed;      /* the cursor was put on the hottest line */
    bool moved;       /* the user moved the cursor since */
};

static uint64_t item(const void *arg, uint32_t row) {
    const struct line_row *r = &((const struct line_rows *)arg)->row[row];
    return (uint64_t)(r->hidden != 0) << 32 | r->line;
}

static struct cursor_rows rows_of(const struct lines_state *v) {
    return (struct cursor_rows){.count = v->rows.count, .item = item, .arg = &v->rows};
}

static void *open_lines(const struct model *m) {
    struct lines_state *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->finder = source_finder_new();
    v->model = m;
    v->method = METHOD_NONE;
    v->context = CONTEXT_MOST;
    if (!v->finder) {
        free(v);
        return NULL;
    }
    return v;
}

static void close_lines(void *state) {
    struct lines_state *v = state;
    if (v) {
        line_rows_free(&v->rows);
        source_finder_free(v->finder);
    }
    free(v);
}

/* Chooses the hottest Java method, unless a method was already chosen: a list that changes to
 * another method cannot be read. */
static void choose(struct lines_state *v) {
    const struct snapshot *s = v->model->snapshot;
    for (uint32_t i = 0; v->method == METHOD_NONE && s && i < s->method_count; i++)
        if (model_method(v->model, s->methods[i].method)->kind == METHOD_JAVA)
            v->method = s->methods[i].method;
}

static void want(void *state, struct model_question *q) {
    struct lines_state *v = state;
    choose(v);
    q->lines = v->method != METHOD_NONE;
    q->lines_of = v->method;
}

/* True if the answer is about our method. */
static bool is_answered(const struct lines_state *v, const struct model *m) {
    return m->snapshot && v->method != METHOD_NONE && m->asked.lines &&
           m->asked.lines_of == v->method;
}

static void find_source(struct lines_state *v, const struct model *m) {
    const struct method *method = model_method(m, v->method);
    const char *path = m->settings.source_path ? m->settings.source_path : "";
    bool recording = m->status.phase == SESSION_REPLAYED;
    v->source =
        method->kind == METHOD_JAVA
            ? source_finder_find(v->finder, path, recording ? 0 : m->jvm.pid, method->class_name)
            : NULL;
}

/* Puts the cursor on the hottest line, in the middle of the screen. */
static void place(struct lines_state *v, const struct snapshot *s, const struct cursor_rows *rows) {
    const struct snapshot_line *best = NULL;
    uint32_t row = 0, half = v->cursor.page / 2;
    for (uint32_t i = 0; i < v->rows.count; i++) {
        const struct line_row *r = &v->rows.row[i];
        const struct snapshot_line *l = r->at == LINE_ROW_NONE ? NULL : &s->lines[r->at];
        if (!l ||
            (best && (l->self < best->self || (l->self == best->self && l->total <= best->total))))
            continue;
        best = l;
        row = i;
    }
    if (!best)
        return;
    cursor_select(&v->cursor, row, rows);
    v->cursor.top = row > half ? row - half : 0;
    v->placed = true;
}

/* Shows as many lines around each line as fit on the screen. A smaller number is kept, so that rows
 * do not come and go. */
static void build(struct lines_state *v, const struct model *m) {
    const struct snapshot *s = m->snapshot;
    for (;;) {
        line_rows_build(&v->rows, s->lines, s->line_count, v->source ? v->source->lines : 0,
                        v->context);
        if (v->context <= CONTEXT_LEAST || v->rows.count <= v->cursor.page)
            return;
        v->context /= 2;
    }
}

static void update(void *state, const struct model *m) {
    struct lines_state *v = state;
    choose(v);
    find_source(v, m);
    if (!is_answered(v, m) || !m->snapshot->line_count) {
        v->rows.count = 0;
        return;
    }
    build(v, m);
    struct cursor_rows rows = rows_of(v);
    if (v->placed)
        cursor_follow(&v->cursor, &rows);
    else
        place(v, m->snapshot, &rows);
}

static const struct snapshot_method *method_row(const struct lines_state *v,
                                                const struct model *m) {
    for (uint32_t i = 0; i < m->snapshot->method_count; i++)
        if (m->snapshot->methods[i].method == v->method)
            return &m->snapshot->methods[i];
    return NULL;
}

static void draw_title(const struct lines_state *v, struct canvas *c, struct area a,
                       const struct model *m) {
    enum method_kind kind = model_method(m, v->method)->kind;
    const struct snapshot_method *row = method_row(v, m);
    struct format f = {""}, g = {""};
    char name[1024], part[96] = "no samples";
    if (row)
        snprintf(part, sizeof part, "self %s%%  total %s%%",
                 format_percent(&f, percent_of(row->self, m->snapshot->weight)),
                 format_percent(&g, percent_of(row->total, m->snapshot->weight)));
    int cols = canvas_width(c, part), room = a.cols - 2;
    if (room - cols - 2 >= TITLE_COLS) {
        canvas_right(c, a.row, a.col + a.cols - cols, cols, ROLE_VALUE, part);
        room -= cols + 2;
    }
    view_name(c, a.row, a.col + 2, room, view_frame_role(kind, TIER_C2),
              model_method_name(m, v->method, name, sizeof name), kind, m);
}

/* Writes what is wrong with the source, or why there is none; or "". Returns out. */
static const char *source_note(const struct lines_state *v, const struct model *m, char *out,
                               size_t size) {
    const struct snapshot *s = m->snapshot;
    const struct snapshot_line *last = s->line_count ? &s->lines[s->line_count - 1] : NULL;
    if (v->source && last && last->line > v->source->lines)
        snprintf(out, size, "file has only %u lines: ", v->source->lines);
    else if (v->source)
        snprintf(out, size, "%s", "");
    else if (model_method(m, v->method)->kind != METHOD_JAVA)
        snprintf(out, size, "lines are known only for Java methods");
    else if (source_archive_missing())
        snprintf(out, size, "no source: archives need %s, which is not installed",
                 source_archive_missing());
    else
        snprintf(out, size, "no source: use --source-path DIR, JAR or ZIP");
    return out;
}

static int source_col(struct area a) {
    return (a.cols < VIEW_NARROW_COLS  ? NARROW_LINE
            : a.cols < BAR_SCREEN_COLS ? BAR
                                       : LINE) +
           LINE_COLS + 1;
}

static void draw_heads(const struct lines_state *v, struct canvas *c, struct area a,
                       const struct model *m) {
    char heads[128], note[80];
    int x = source_col(a);
    if (a.cols < VIEW_NARROW_COLS)
        snprintf(heads, sizeof heads, "  SELF%%  LINE");
    else
        snprintf(heads, sizeof heads, "  SELF%% TOTAL%% %7s%*s", view_weight_head(m),
                 x - 1 - WEIGHT - 7, "LINE");
    view_heads(c, a, heads);
    x += canvas_head(c, a.row, a.col + x, a.cols - x, ROLE_COLUMNS,
                     source_note(v, m, note, sizeof note));
    if (v->source)
        canvas_tail(c, a.row, a.col + x, a.cols - x, ROLE_COLUMNS, v->source->origin);
}

/* Draws a bar relative to the method's hottest line: at least half a cell if there are samples. */
static void draw_bar(struct canvas *c, int y, int x, uint64_t self, uint64_t most) {
    bool ascii = c->ascii_lines || c->ascii_text;
    int halves = most ? (int)((double)self / (double)most * 2 * BAR_COLS + 0.5) : 0;
    halves = self && !halves ? 1 : halves;
    for (int i = 0; i < halves; i += 2)
        canvas_text(c, y, x + i / 2, 1, ROLE_SPARK,
                    i + 1 < halves ? (ascii ? "#" : "\u2588") : (ascii ? ":" : "\u258c"));
}

static void draw_figures(struct canvas *c, struct area a, int y, const struct model *m,
                         const struct snapshot_line *l, uint64_t most) {
    if (l->self_samples)
        view_percent(c, y, a.col + SELF, 5, percent_of(l->self, m->snapshot->weight));
    if (a.cols < VIEW_NARROW_COLS)
        return;
    view_percent(c, y, a.col + TOTAL, 6, percent_of(l->total, m->snapshot->weight));
    if (l->self_samples)
        view_weight(c, y, a.col + WEIGHT, 7, m, l->self, l->self_samples);
    if (a.cols >= BAR_SCREEN_COLS)
        draw_bar(c, y, a.col + BAR, l->self, most);
}

/* Draws a text, and marks what matches the search. */
static void draw_text(struct canvas *c, int y, int x, int cols, enum role role, const char *text,
                      const struct model *m) {
    const char *hit = m->search[0] ? strcasestr(text, m->search) : NULL;
    canvas_head(c, y, x, cols, role, text);
    if (!hit)
        return;
    int whole = canvas_width(c, text), from = whole - canvas_width(c, hit);
    int to = whole - canvas_width(c, hit + strlen(m->search));
    to = to > cols ? cols : to;
    if (from < to)
        canvas_role(c, y, x + from, to - from, ROLE_MATCH);
}

static void draw_row(const struct lines_state *v, struct canvas *c, struct area a, int y,
                     const struct model *m, const struct line_row *r, uint64_t most) {
    int x = a.col + source_col(a), room = a.cols - source_col(a);
    char number[16];
    if (r->hidden) {
        canvas_textf(c, y, x, room, ROLE_DIM, "%s %u lines", canvas_glyph(c, GLYPH_ELLIPSIS),
                     r->hidden);
        return;
    }
    if (r->at != LINE_ROW_NONE)
        draw_figures(c, a, y, m, &m->snapshot->lines[r->at], most);
    if (!r->line) {
        canvas_right(c, y, x - LINE_COLS - 1, LINE_COLS, ROLE_LINE_NUMBER, "?");
        canvas_head(c, y, x, room, ROLE_DIM,
                    model_method(m, v->method)->kind == METHOD_JAVA
                        ? "no line is known: native, or compiled without line numbers"
                        : "native code");
        return;
    }
    snprintf(number, sizeof number, "%u", r->line);
    canvas_right(c, y, x - LINE_COLS - 1, LINE_COLS, ROLE_LINE_NUMBER, number);
    const char *text = v->source ? source_file_line(v->source, r->line) : NULL;
    if (text)
        draw_text(c, y, x, room, r->at == LINE_ROW_NONE ? ROLE_DIM : ROLE_SOURCE, text, m);
}

static uint64_t hottest(const struct snapshot *s) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->line_count; i++)
        most = s->lines[i].self > most ? s->lines[i].self : most;
    return most;
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct lines_state *v = state;
    if (!is_answered(v, m)) {
        view_heads(c, a, "  LINES");
        if (m->snapshot && m->snapshot->method_count)
            canvas_head(c, a.row + 1, a.col + 2, a.cols - 2, ROLE_DIM,
                        "no Java method was sampled: this view shows the lines of one");
        else
            view_empty(c, a, m);
        return a.row;
    }
    uint32_t page = a.rows > HEADS ? (uint32_t)(a.rows - HEADS) : 0, count = v->rows.count;
    if (page != v->cursor.page) { /* another size: a different part of the source fits */
        v->cursor.page = page;
        v->context = CONTEXT_MOST;
        v->placed = v->moved;
        update(v, m);
        count = v->rows.count;
    }
    draw_title(v, c, a, m);
    draw_heads(v, c, (struct area){a.row + 1, a.col, a.rows - 1, a.cols}, m);
    cursor_fit(&v->cursor, count, page);
    if (!count) {
        canvas_head(c, a.row + HEADS, a.col + 2, a.cols - 2, ROLE_DIM,
                    "it has no samples in this selection");
        return a.row;
    }
    uint64_t most = hottest(m->snapshot);
    for (uint32_t i = 0; i < page && v->cursor.top + i < count; i++)
        draw_row(v, c, a, a.row + HEADS + (int)i, m, &v->rows.row[v->cursor.top + i], most);
    int at = a.row + HEADS + (int)(v->cursor.row - v->cursor.top);
    if (page)
        view_cursor_row(c, a, at);
    return at;
}

static enum view_outcome open_fold(struct lines_state *v, const struct model *m) {
    uint32_t at = v->cursor.row;
    if (!is_answered(v, m) || at >= v->rows.count || !v->rows.row[at].hidden)
        return VIEW_IGNORED;
    struct cursor_rows rows = rows_of(v);
    line_rows_open(&v->rows, at);
    update(v, m);
    cursor_select(&v->cursor, at, &rows); /* the first line of the fold is now in this row */
    return VIEW_DONE;
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct lines_state *v = state;
    struct cursor_rows rows = rows_of(v);
    if (cursor_command(&v->cursor, cmd, &rows)) {
        v->moved = true;
        return VIEW_DONE;
    }
    return cmd == COMMAND_ENTER || cmd == COMMAND_EXPAND ? open_fold(v, m) : VIEW_IGNORED;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    struct lines_state *v = state;
    struct cursor_rows rows = rows_of(v);
    bool enter;
    if (!view_mouse_list(&v->cursor, a, HEADS, press, &rows, &enter))
        return VIEW_IGNORED;
    v->moved = true;
    if (enter)
        open_fold(v, m);
    return VIEW_DONE;
}

static const char *row_text(const void *arg, uint32_t row, char *out, size_t size) {
    const struct lines_state *v = arg;
    const struct line_row *r = &v->rows.row[row];
    const char *text = v->source && !r->hidden ? source_file_line(v->source, r->line) : NULL;
    snprintf(out, size, "%s", r->hidden || !text ? "" : text);
    return out;
}

static bool find(void *state, int by, const struct model *m) {
    struct lines_state *v = state;
    struct cursor_rows rows = rows_of(v);
    bool found = view_find_row(&v->cursor, &rows, by, m, row_text, v);
    v->moved = v->moved || found;
    return found;
}

static bool subject(const void *state, const struct model *m, struct view_subject *out) {
    const struct lines_state *v = state;
    (void)m;
    *out = (struct view_subject){.method = v->method};
    return v->method != METHOD_NONE;
}

static void seek(void *state, const struct view_subject *s) {
    struct lines_state *v = state;
    if (s->method == METHOD_NONE)
        return;
    if (s->method != v->method) {
        line_rows_close_all(&v->rows);
        v->rows.count = 0;
        v->cursor = (struct cursor){.page = v->cursor.page};
        v->placed = v->moved = false;
        v->context = CONTEXT_MOST;
    }
    v->method = s->method;
}

static void leave(const void *state, const struct model *m, struct view_place *out) {
    const struct lines_state *v = state;
    (void)m;
    *out = (struct view_place){.cursor = v->cursor, .method = v->method};
}

static void come_back(void *state, const struct view_place *p) {
    struct lines_state *v = state;
    seek(v, &(struct view_subject){.method = p->method});
    v->cursor = p->cursor;
    v->placed = p->method != METHOD_NONE && p->cursor.held;
}

/* Copies "shop.cart.Cart.total:42", a tab, and the line's text. */
static void copy(const void *state, const struct model *m, uint32_t row, struct text *out) {
    (void)row; /* the cursor's */
    const struct lines_state *v = state;
    char name[1024], text[1024];
    if (v->cursor.row >= v->rows.count)
        return;
    row_text(v, v->cursor.row, text, sizeof text);
    text_addf(out, "%s:%u%s%s\n", model_method_name(m, v->method, name, sizeof name),
              v->rows.row[v->cursor.row].line, text[0] ? "\t" : "", text + strspn(text, " "));
}

const struct view_type view_lines = {
    .title = "lines",
    .name = "lines",
    .key = '7',
    .scope = SCOPE_LINES,
    .event = -1,
    .open = open_lines,
    .close = close_lines,
    .want = want,
    .update = update,
    .draw = draw,
    .command = command,
    .mouse = mouse,
    .find = find,
    .subject = subject,
    .seek = seek,
    .leave = leave,
    .come_back = come_back,
    .copy = copy,
};
