/*
 * Threads: who runs, by the samples and by the kernel's own count. Enter zooms every view into
 * one of them.
 */
#include "tui/cursor.h"
#include "tui/format.h"
#include "tui/view.h"

#include <stdio.h>
#include <stdlib.h>

/* Where the columns stand; name and top method share the rest. */
enum { TID = 2, CPU = 10, SHARE = 17, SAMPLES = 24, STATE = 32, NAME = 38 };

struct threads_state {
    struct cursor cursor;
};

/* A number may be used again: an ended thread and a living one of the same number differ. A virtual
 * thread changes its carrier. */
static uint64_t item(const void *arg, uint32_t row) {
    const struct model *m = arg;
    const struct model_thread *t = &m->threads[row];
    if (t->is_virtual)
        return t->java_id | UINT64_C(1) << 62;
    return t->java_id << 32 ^ t->tid ^ (t->state == 'X' ? UINT64_C(1) << 63 : 0);
}

static struct cursor_rows rows_of(const struct model *m) {
    return (struct cursor_rows){.count = m->thread_count, .item = item, .arg = m};
}

static void *open_threads(void) {
    return calloc(1, sizeof(struct threads_state));
}

static void update(void *state, const struct model *m) {
    struct threads_state *v = state;
    struct cursor_rows rows = rows_of(m);
    cursor_follow(&v->cursor, &rows);
}

static const char *state_word(char state) {
    switch (state) {
    case 'R':
        return "run";
    case 'S':
        return "sleep";
    case 'D':
        return "disk";
    case 'T':
    case 't':
        return "stop";
    case 'Z':
        return "zombi";
    case 'I':
        return "idle";
    case 'X':
        return "ended";
    case 'V':
        return "virt";
    default:
        return "-";
    }
}

static int name_columns(struct area a) {
    int rest = a.cols - NAME;
    return rest < 30 ? rest / 2 : rest * 2 / 5;
}

static void draw_row(struct canvas *c, struct area a, int y, const struct model *m,
                     const struct model_thread *t) {
    struct format f = {""};
    char name[1024];
    int wide = name_columns(a);
    snprintf(name, sizeof name, "%u", t->tid);
    canvas_right(c, y, a.col + TID, 7, t->is_virtual ? ROLE_DIM : ROLE_NUMBER, name);
    if (t->cpu_percent >= 0)
        view_percent(c, y, a.col + CPU, 6, t->cpu_percent);
    else
        canvas_right(c, y, a.col + CPU, 6, ROLE_DIM, "-");
    view_percent(c, y, a.col + SHARE, 6, percent_of(t->weight, m->snapshot->weight));
    canvas_right(c, y, a.col + SAMPLES, 7, ROLE_NUMBER, format_short_count(&f, t->samples));
    canvas_text(c, y, a.col + STATE, 5, t->state == 'R' ? ROLE_VALUE : ROLE_DIM,
                state_word(t->state));
    canvas_middle(c, y, a.col + NAME, wide - 1, ROLE_TEXT, model_thread_name(t, name, sizeof name));
    if (t->top_method == METHOD_NONE || !t->samples)
        return;
    enum method_kind kind = model_method(m, t->top_method)->kind;
    view_name(c, y, a.col + NAME + wide, a.cols - NAME - wide, view_frame_role(kind, TIER_C2),
              model_method_name(m, t->top_method, name, sizeof name), kind, m);
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct threads_state *v = state;
    view_heads(c, a, "      TID   CPU% SHARE%  SAMPLES STATE NAME");
    canvas_text(c, a.row, a.col + NAME + name_columns(a), a.cols, ROLE_COLUMNS, "TOP METHOD");
    uint32_t count = m->snapshot ? m->thread_count : 0;
    uint32_t page = a.rows > 1 ? (uint32_t)a.rows - 1 : 0;
    cursor_fit(&v->cursor, count, page);
    if (count == 0) {
        view_empty(c, a, m);
        return a.row;
    }
    for (uint32_t i = 0; i < page && v->cursor.top + i < count; i++)
        draw_row(c, a, a.row + 1 + (int)i, m, &m->threads[v->cursor.top + i]);
    int at = a.row + 1 + (int)(v->cursor.row - v->cursor.top);
    if (page)
        view_cursor_row(c, a, at);
    return at;
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct threads_state *v = state;
    struct cursor_rows rows = rows_of(m);
    if (cursor_command(&v->cursor, cmd, &rows))
        return VIEW_DONE;
    if (cmd != COMMAND_ENTER || v->cursor.row >= m->thread_count)
        return VIEW_IGNORED;
    return model_zoom(m, &m->threads[v->cursor.row]) ? VIEW_SHOW_METHODS : VIEW_IGNORED;
}

const struct view_type view_threads = {
    .title = "threads",
    .key = '2',
    .scope = SCOPE_THREADS,
    .open = open_threads,
    .close = free,
    .update = update,
    .draw = draw,
    .command = command,
};
