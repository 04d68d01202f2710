/*
 * The locks view: for which classes of locks threads wait, how long, and which threads hold them
 * meanwhile. The waits are those that ended in the time shown; a thread, method or filter keeps the
 * waits in which it waited or held the lock. The selected event does not matter.
 */
#include "tui/model/lock_rows.h"
#include "tui/view/view.h"
#include "tui/widget/cursor.h"
#include "core/base/format.h"

#include "core/wire/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Positions of the columns; names take the rest. */
enum {
    SHARE = 2,
    WAITS = 9,
    TOTAL = 17,
    LONGEST = 25,
    LOCKS = 33,
    THREADS = 39,
    KIND = 45,
    NAME = 47
};
#define WIDE_COLS 100 /* from here on, rows have words that the heads have too */
#define STEP_COLS 70  /* and in a step */

enum { NARROW_TOTAL = 9, NARROW_NAME = 17 }; /* on a narrow screen, names take the rest */

static int name_col(struct area a) {
    return a.cols < VIEW_NARROW_COLS ? NARROW_NAME : NAME;
}

struct locks_state {
    struct cursor cursor;
    struct lock_rows rows;
    uint32_t *method; /* from model_owner_methods */
};

static uint64_t item(const void *arg, uint32_t row) {
    const struct lock_rows *r = arg;
    return r->row[row].id;
}

static struct cursor_rows rows_of(const struct locks_state *v) {
    return (struct cursor_rows){.count = v->rows.count, .item = item, .arg = &v->rows};
}

static void *open_locks(const struct model *m) {
    (void)m;
    return calloc(1, sizeof(struct locks_state));
}

static void close_locks(void *state) {
    struct locks_state *v = state;
    if (v) {
        lock_rows_free(&v->rows);
        free(v->method);
    }
    free(v);
}

static void want(void *state, struct model_question *q) {
    (void)state;
    q->locks = true;
}

static void update(void *state, const struct model *m) {
    struct locks_state *v = state;
    uint32_t *method = realloc(v->method, (m->snapshot->lock_count + (size_t)1) * sizeof *method);
    if (!method) {
        v->rows.count = 0;
        return;
    }
    v->method = method;
    model_owner_methods(m, method);
    lock_rows_build(&v->rows, m->snapshot, method);
    struct cursor_rows rows = rows_of(v);
    cursor_follow(&v->cursor, &rows);
}

static char kind_letter(uint32_t flags) {
    return flags & WIRE_LOCK_MONITOR ? 'M' : flags & WIRE_LOCK_SHARED ? 'S' : 'L';
}

static uint64_t waited_in_all(const struct snapshot *s) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->lock_count; i++)
        if (s->locks[i].is_class)
            sum += s->locks[i].waited_ns;
    return sum;
}

/* Draws a number that is counted up to 1,000 only. */
static void draw_some(struct canvas *c, int y, int x, int cols, uint32_t n) {
    canvas_textf(c, y, x + (n < 1000 ? 1 : 0), cols, ROLE_NUMBER, n < 1000 ? "%*u" : "%*u+",
                 cols - 1, n);
}

static const char *class_name(const struct model *m, uint32_t class_id, char *out, size_t size) {
    if (size)
        out[0] = '\0';
    frame_name(model_method(m, class_id), m->style & ~(unsigned)NAME_MARKS, out, size);
    return out;
}

static const char *thread_name(const char *name, uint32_t tid, char *out, size_t size) {
    if (name && name[0])
        snprintf(out, size, "%s", name);
    else if (tid)
        snprintf(out, size, "[tid=%u]", tid);
    else
        snprintf(out, size, "unknown thread");
    return out;
}

static void draw_glyph(struct canvas *c, int y, int x, const struct lock_row *r) {
    canvas_text(c, y, x, 1, ROLE_GLYPH,
                canvas_glyph(c, r->leaf   ? GLYPH_LEAF
                                : r->open ? GLYPH_OPEN
                                          : GLYPH_CLOSED));
}

static void draw_class(struct canvas *c, int y, struct area a, const struct model *m,
                       const struct lock_row *r, uint64_t all) {
    const struct snapshot_lock *l = &r->lock;
    char name[1024];
    view_percent(c, y, a.col + SHARE, 6, percent_of(l->waited_ns, all));
    if (a.cols >= VIEW_NARROW_COLS) {
        draw_some(c, y, a.col + LOCKS, 5, l->locks);
        draw_some(c, y, a.col + THREADS, 5, l->waiters);
        canvas_textf(c, y, a.col + KIND, 1, ROLE_DIM, "%c", kind_letter(l->flags));
    }
    draw_glyph(c, y, a.col + name_col(a), r);
    view_name(c, y, a.col + name_col(a) + 2, a.cols - name_col(a) - 2, ROLE_VALUE,
              class_name(m, l->class_id, name, sizeof name), METHOD_CLASS, m);
}

static void draw_owner(struct canvas *c, int y, struct area a, const struct model *m,
                       const struct lock_row *r) {
    const struct snapshot_lock *l = &r->lock;
    char name[1024];
    int x = a.col + name_col(a) + 2, end = a.col + a.cols;
    draw_glyph(c, y, x, r);
    x += 2;
    if (!l->owner_tid && !l->owner_java_id) {
        canvas_text(c, y, x, end - x, ROLE_DIM, "its holder is not known");
        return;
    }
    if (a.cols >= WIDE_COLS)
        x += canvas_text(c, y, x, end - x, ROLE_DIM, "held by ");
    /* If there is a method, a long name takes only half of the room. */
    int room = r->method == METHOD_NONE ? end - x : (end - x) / 2;
    x += canvas_middle(c, y, x, room, ROLE_TEXT,
                       thread_name(l->owner, l->owner_tid, name, sizeof name));
    if (r->method == METHOD_NONE)
        return;
    x += canvas_text(c, y, x, end - x, ROLE_DIM, " in ");
    enum method_kind kind = model_method(m, r->method)->kind;
    view_name(c, y, x, end - x, view_frame_role(kind, TIER_C2),
              model_method_name(m, r->method, name, sizeof name), kind, m);
}

/* Draws a step: "waiting for shop.Pool held by worker-3", and whether it is a deadlock. */
static void draw_step(struct canvas *c, int y, struct area a, const struct model *m,
                      const struct lock_row *r, const struct snapshot_lock_link *l) {
    struct format f = {""};
    char name[1024], holder[256];
    int x = a.col + name_col(a) + 4 + 2 * r->depth, end = a.col + a.cols;
    bool words = a.cols >= WIDE_COLS && end - x >= STEP_COLS;
    if (l->deadlock_ns && a.cols >= WIDE_COLS)
        x += canvas_textf(c, y, x, end - x, ROLE_WARNING,
                          "DEADLOCK %s: ", format_duration(&f, l->deadlock_ns));
    else if (l->deadlock_ns)
        x += canvas_text(c, y, x, end - x, ROLE_WARNING, "DEADLOCK ");
    x += canvas_text(c, y, x, end - x, ROLE_DIM, words ? "waiting for " : "wants ");
    const char *of = words ? " held by " : " of ";
    thread_name(l->other, l->other_tid, holder, sizeof holder);
    int cols = canvas_width(c, holder) + canvas_width(c, of), most = (end - x) * 2 / 3;
    x += canvas_tail(c, y, x, end - x - (cols < most ? cols : most), ROLE_VALUE,
                     class_name(m, l->next_class, name, sizeof name));
    x += canvas_text(c, y, x, end - x, ROLE_DIM, of);
    canvas_middle(c, y, x, end - x, ROLE_TEXT, holder);
}

static void draw_below(struct canvas *c, int y, struct area a, const struct model *m,
                       const struct lock_row *r) {
    char name[1024];
    int x = a.col + name_col(a) + 6, end = a.col + a.cols;
    enum method_kind kind = model_method(m, r->method)->kind;
    if (r->kind == LOCK_ROW_MORE)
        canvas_textf(c, y, x, end - x, ROLE_DIM, "waited: %u more", r->lock.waiters);
    else
        view_name(c, y, x, end - x, view_frame_role(kind, TIER_C2),
                  model_method_name(m, r->method, name, sizeof name), kind, m);
}

static void draw_times(struct canvas *c, int y, struct area a, uint64_t waits, uint64_t waited_ns,
                       uint64_t longest_ns) {
    struct format f = {""};
    bool narrow = a.cols < VIEW_NARROW_COLS;
    canvas_right(c, y, a.col + (narrow ? NARROW_TOTAL : TOTAL), 7, ROLE_NUMBER,
                 format_duration(&f, waited_ns));
    if (narrow)
        return;
    canvas_right(c, y, a.col + WAITS, 7, ROLE_NUMBER, format_short_count(&f, waits));
    if (longest_ns)
        canvas_right(c, y, a.col + LONGEST, 7, ROLE_NUMBER, format_duration(&f, longest_ns));
}

/* Draws a step of a chain, or a waiter. */
static void draw_link(struct canvas *c, int y, struct area a, const struct model *m,
                      const struct lock_row *r, const struct snapshot_lock_link *l) {
    char name[1024];
    int x = a.col + name_col(a) + 6, end = a.col + a.cols;
    draw_times(c, y, a, l->waits, l->waited_ns, 0);
    if (r->kind == LOCK_ROW_STEP) {
        draw_step(c, y, a, m, r, l);
        return;
    }
    x += canvas_text(c, y, x, end - x, ROLE_DIM, "waited: ");
    canvas_middle(c, y, x, end - x, ROLE_TEXT,
                  thread_name(l->other, l->other_tid, name, sizeof name));
}

static void draw_row(struct canvas *c, struct area a, int y, const struct model *m,
                     const struct lock_row *r, uint64_t all) {
    const struct snapshot_lock *l = &r->lock;
    if (r->link)
        draw_link(c, y, a, m, r, r->link);
    if (r->kind == LOCK_ROW_MORE || r->kind == LOCK_ROW_FRAME)
        draw_below(c, y, a, m, r);
    if (r->kind != LOCK_ROW_CLASS && r->kind != LOCK_ROW_OWNER)
        return;
    draw_times(c, y, a, l->waits, l->waited_ns, l->longest_ns);
    if (r->kind == LOCK_ROW_CLASS)
        draw_class(c, y, a, m, r, all);
    else
        draw_owner(c, y, a, m, r);
}

static struct tag thread_tag(bool is_virtual, uint64_t java_id, uint32_t tid) {
    return tid || java_id
               ? (struct tag){TAG_THREAD, model_thread_key(is_virtual, java_id, tid, false)}
               : (struct tag){TAG_NONE, 0};
}

/* A row is tagged by its class, by the thread that holds or waits, or by its method. */
static struct tag tag_of(const struct lock_row *r) {
    const struct snapshot_lock *l = &r->lock;
    switch (r->kind) {
    case LOCK_ROW_CLASS:
        return (struct tag){TAG_METHOD, l->class_id};
    case LOCK_ROW_OWNER:
        return thread_tag(l->owner_is_virtual, l->owner_java_id, l->owner_tid);
    case LOCK_ROW_WAITER:
        return thread_tag(r->link->other_is_virtual, r->link->other_java_id, r->link->other_tid);
    case LOCK_ROW_FRAME:
        return (struct tag){TAG_METHOD, r->method};
    default:
        return (struct tag){TAG_NONE, 0};
    }
}

static void draw_empty(struct canvas *c, struct area a, const struct model *m) {
    const struct session_engine *e = &m->status.engine[WIRE_EVENT_LOCK];
    const char *why = "no thread waits for a lock";
    struct format f = {""};
    char text[120];
    if (view_can_start(m, WIRE_EVENT_LOCK) && !m->counted[WIRE_EVENT_LOCK]) {
        why = "locks are not sampled: Enter starts lock";
    } else if (m->question.narrowings || (m->question.from_second && !m->span_is_default)) {
        why = "no thread waited for a lock in this selection";
    } else if (e->runs) {
        snprintf(text, sizeof text, "no thread waited for a lock longer than %s yet",
                 format_interval(&f, e->interval));
        why = text;
    }
    canvas_head(c, a.row + 1, a.col + 2, a.cols - 2, ROLE_DIM, why);
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct locks_state *v = state;
    view_heads(c, a,
               a.cols < VIEW_NARROW_COLS
                   ? "  SHARE%   TOTAL LOCK CLASS, WHO HELD IT"
                   : "  SHARE%   WAITS   TOTAL LONGEST LOCKS THRDS K LOCK CLASS, AND WHO HELD IT");
    uint32_t count = m->snapshot ? v->rows.count : 0;
    uint32_t page = a.rows > 1 ? (uint32_t)a.rows - 1 : 0;
    cursor_fit(&v->cursor, count, page);
    if (count == 0) {
        draw_empty(c, a, m);
        return a.row;
    }
    uint64_t all = waited_in_all(m->snapshot);
    for (uint32_t i = 0; i < page && v->cursor.top + i < count; i++) {
        draw_row(c, a, a.row + 1 + (int)i, m, &v->rows.row[v->cursor.top + i], all);
        view_tag_mark(c, a, a.row + 1 + (int)i, m, tag_of(&v->rows.row[v->cursor.top + i]));
    }
    int at = a.row + 1 + (int)(v->cursor.row - v->cursor.top);
    if (page)
        view_cursor_row(c, a, at);
    return at;
}

static void open_owner(struct locks_state *v, const struct model *m, uint32_t at) {
    uint32_t method[LOCK_STACK_MAX];
    uint32_t n = model_owner_stack(m, v->rows.row[at].lock.owner_node, method, LOCK_STACK_MAX);
    lock_rows_open_stack(&v->rows, at, method, n);
}

static bool is_shut(const struct lock_row *r) {
    return !r->leaf && !r->open;
}

/* Opens or closes the row at the cursor. */
static void turn(struct locks_state *v, const struct model *m, uint32_t at) {
    if (v->rows.row[at].kind == LOCK_ROW_OWNER && is_shut(&v->rows.row[at]))
        open_owner(v, m, at);
    else if (!v->rows.row[at].leaf)
        lock_rows_fold(&v->rows, at);
}

/* Opens a class with all its owners, or an owner. */
static void open_below(struct locks_state *v, const struct model *m, uint32_t at) {
    bool of_class = v->rows.row[at].kind == LOCK_ROW_CLASS;
    if (is_shut(&v->rows.row[at])) {
        turn(v, m, at);
        update(v, m);
    }
    for (uint32_t i = at + 1;
         of_class && i < v->rows.count && v->rows.row[i].kind != LOCK_ROW_CLASS; i++)
        if (v->rows.row[i].kind == LOCK_ROW_OWNER && is_shut(&v->rows.row[i]))
            open_owner(v, m, i);
}

/* Carries out a command for folds. False for other commands. */
static bool fold(struct locks_state *v, const struct model *m, enum command cmd) {
    struct cursor_rows rows = rows_of(v);
    uint32_t at = v->cursor.row;
    const struct lock_row *r = &v->rows.row[at];
    if (cmd != COMMAND_ENTER && (cmd < COMMAND_EXPAND || cmd > COMMAND_FOLD))
        return false;
    cursor_select(&v->cursor, at, &rows); /* the cursor stays on the row that was opened */
    switch (cmd) {
    case COMMAND_ENTER:
        turn(v, m, at);
        break;
    case COMMAND_EXPAND:
        if (is_shut(r))
            turn(v, m, at);
        else if (r->open)
            cursor_select(&v->cursor, at + 1, &rows);
        break;
    case COMMAND_COLLAPSE:
        if (r->open && !r->leaf)
            turn(v, m, at);
        else
            cursor_select(&v->cursor, lock_rows_parent(&v->rows, at), &rows);
        break;
    case COMMAND_EXPAND_ALL:
        open_below(v, m, at);
        break;
    case COMMAND_UNFOLD:
        lock_rows_fold_all(&v->rows, false);
        break;
    default: /* COMMAND_FOLD */
        while (lock_rows_parent(&v->rows, v->cursor.row) != v->cursor.row)
            cursor_select(&v->cursor, lock_rows_parent(&v->rows, v->cursor.row), &rows);
        lock_rows_fold_all(&v->rows, true);
    }
    update(v, m);
    return true;
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct locks_state *v = state;
    struct cursor_rows rows = rows_of(v);
    if (cursor_command(&v->cursor, cmd, &rows))
        return VIEW_DONE;
    if (!m->snapshot || v->cursor.row >= v->rows.count)
        return VIEW_IGNORED;
    return fold(v, m, cmd) ? VIEW_DONE : VIEW_IGNORED;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    struct locks_state *v = state;
    struct cursor_rows rows = rows_of(v);
    bool enter;
    if (!view_mouse_list(&v->cursor, a, 1, press, &rows, &enter))
        return VIEW_IGNORED;
    return enter ? command(v, COMMAND_ENTER, m) : VIEW_DONE;
}

struct text_of {
    const struct locks_state *view;
    const struct model *model;
};

/* Writes the text of a row, without its figures. */
static const char *row_text(const void *arg, uint32_t row, char *out, size_t size) {
    const struct text_of *t = arg;
    const struct model *m = t->model;
    const struct lock_row *r = &t->view->rows.row[row];
    char a[512], b[512];
    out[0] = '\0';
    if (r->kind == LOCK_ROW_CLASS)
        class_name(m, r->lock.class_id, out, size);
    else if (r->kind == LOCK_ROW_OWNER)
        snprintf(out, size, "held by %s%s%s",
                 thread_name(r->lock.owner, r->lock.owner_tid, a, sizeof a),
                 r->method == METHOD_NONE ? "" : " in ",
                 r->method == METHOD_NONE ? "" : model_method_name(m, r->method, b, sizeof b));
    else if (r->kind == LOCK_ROW_STEP)
        snprintf(out, size, "%swaiting for %s held by %s", r->link->deadlock_ns ? "DEADLOCK: " : "",
                 class_name(m, r->link->next_class, a, sizeof a),
                 thread_name(r->link->other, r->link->other_tid, b, sizeof b));
    else if (r->kind == LOCK_ROW_WAITER)
        snprintf(out, size, "waited: %s",
                 thread_name(r->link->other, r->link->other_tid, a, sizeof a));
    else if (r->kind == LOCK_ROW_FRAME)
        model_method_name(m, r->method, out, size);
    return out;
}

static bool find(void *state, int by, const struct model *m) {
    struct locks_state *v = state;
    struct cursor_rows rows = rows_of(v);
    return m->snapshot &&
           view_find_row(&v->cursor, &rows, by, m, row_text, &(struct text_of){v, m});
}

static bool subject(const void *state, const struct model *m, struct view_subject *out) {
    const struct locks_state *v = state;
    *out = (struct view_subject){.method = METHOD_NONE};
    if (!m->snapshot || v->cursor.row >= v->rows.count)
        return false;
    const struct lock_row *r = &v->rows.row[v->cursor.row];
    if (r->kind == LOCK_ROW_FRAME || r->kind == LOCK_ROW_OWNER)
        out->method = r->method;
    return out->method != METHOD_NONE;
}

static void leave(const void *state, const struct model *m, struct view_place *out) {
    const struct locks_state *v = state;
    (void)m;
    *out = (struct view_place){.cursor = v->cursor, .method = METHOD_NONE};
}

static void come_back(void *state, const struct view_place *p) {
    ((struct locks_state *)state)->cursor = p->cursor;
}

static bool tag(const void *state, const struct model *m, uint32_t row, struct tag *out) {
    const struct locks_state *v = state;
    row = row == VIEW_CURSOR ? v->cursor.row : row;
    if (!m->snapshot || row >= v->rows.count)
        return false;
    *out = tag_of(&v->rows.row[row]);
    return true;
}

/* Whether an earlier row of the class shows the same waits: a waiter is below each stack of the
 * owner. */
static bool is_shown_above(const struct lock_rows *rows, uint32_t row) {
    const struct lock_row *r = rows->row;
    for (uint32_t i = row;
         r[row].kind == LOCK_ROW_WAITER && i-- > 0 && r[i].kind != LOCK_ROW_CLASS;)
        if (r[i].kind == LOCK_ROW_WAITER && r[i].link == r[row].link)
            return true;
    return false;
}

/* The waits of the rows that are open. What is below a tagged row is part of it. */
static void tagged(const void *state, const struct model *m, struct tag_sum *out) {
    const struct locks_state *v = state;
    bool in_class = false, in_owner = false;
    *out = (struct tag_sum){.all = m->snapshot ? waited_in_all(m->snapshot) : 0};
    for (uint32_t i = 0; m->snapshot && i < v->rows.count; i++) {
        const struct lock_row *r = &v->rows.row[i];
        uint64_t weight = r->kind == LOCK_ROW_WAITER ? r->link->waited_ns : r->lock.waited_ns;
        if (r->kind == LOCK_ROW_CLASS)
            in_class = in_owner = false;
        if (r->kind == LOCK_ROW_OWNER)
            in_owner = false;
        bool counted = in_class || in_owner || is_shown_above(&v->rows, i);
        bool has = tags_add(&m->tags, out, tag_of(r), counted ? 0 : weight);
        in_class |= has && r->kind == LOCK_ROW_CLASS;
        in_owner |= has && (r->kind == LOCK_ROW_OWNER || r->kind == LOCK_ROW_FRAME);
    }
}

/* Copies the row and, for an owner, its stack. */
static void copy(const void *state, const struct model *m, uint32_t row, struct text *out) {
    const struct locks_state *v = state;
    char name[2048];
    uint32_t method[LOCK_STACK_MAX], n = 0;
    row = row == VIEW_CURSOR ? v->cursor.row : row;
    if (!m->snapshot || row >= v->rows.count)
        return;
    const struct lock_row *r = &v->rows.row[row];
    text_addf(out, "%s\n", row_text(&(struct text_of){v, m}, row, name, sizeof name));
    if (r->kind == LOCK_ROW_OWNER)
        n = model_owner_stack(m, r->lock.owner_node, method, LOCK_STACK_MAX);
    for (uint32_t i = 0; i < n; i++)
        text_addf(out, "%s\n", model_method_name(m, method[i], name, sizeof name));
}

const struct view_type view_locks = {
    .title = "locks",
    .key = '4',
    .scope = SCOPE_LOCKS,
    .name = "locks",
    .event = -1,
    .want = want,
    .open = open_locks,
    .close = close_locks,
    .update = update,
    .draw = draw,
    .command = command,
    .mouse = mouse,
    .find = find,
    .subject = subject,
    .leave = leave,
    .come_back = come_back,
    .copy = copy,
    .tag = tag,
    .tagged = tagged,
    .tagged_of = "of waits",
};
