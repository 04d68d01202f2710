/*
 * Methods: which code takes the time, hottest first.
 */
#include "tui/cursor.h"
#include "tui/format.h"
#include "tui/view.h"

#include <stdio.h>
#include <stdlib.h>

/* Where the columns stand; names take the rest. */
enum { SELF = 2, ERROR = 8, TOTAL = 14, SAMPLES = 21, TIER = 29, KIND = 31, NAME = 38 };

struct methods_state {
    struct cursor cursor;
};

static uint64_t item(const void *arg, uint32_t row) {
    const struct snapshot *s = arg;
    return s->methods[row].method;
}

static struct cursor_rows rows_of(const struct model *m) {
    return (struct cursor_rows){
        .count = m->snapshot ? m->snapshot->method_count : 0, .item = item, .arg = m->snapshot};
}

static void *open_methods(void) {
    return calloc(1, sizeof(struct methods_state));
}

static void update(void *state, const struct model *m) {
    struct methods_state *v = state;
    struct cursor_rows rows = rows_of(m);
    cursor_follow(&v->cursor, &rows);
}

static void draw_row(struct canvas *c, struct area a, int y, const struct model *m,
                     const struct snapshot_method *r) {
    const struct snapshot *s = m->snapshot;
    const struct method *method = model_method(m, r->method);
    enum frame_tier tier = snapshot_main_tier(r->tier);
    char name[1024];
    struct format f = {""};
    view_percent(c, y, a.col + SELF, 5, percent_of(r->self, s->weight));
    if (r->self_samples) {
        canvas_text(c, y, a.col + ERROR, 1, ROLE_DIM, canvas_glyph(c, GLYPH_PLUS_MINUS));
        canvas_right(c, y, a.col + ERROR + 1, 4, ROLE_DIM,
                     format_percent(&f, percent_error(r->self_samples, s->samples)));
    }
    view_percent(c, y, a.col + TOTAL, 6, percent_of(r->total, s->weight));
    canvas_right(c, y, a.col + SAMPLES, 7, ROLE_NUMBER, format_short_count(&f, r->self_samples));
    canvas_textf(c, y, a.col + TIER, 1, ROLE_DIM, "%c",
                 method->kind == METHOD_JAVA ? view_tier_letter(tier) : ' ');
    canvas_text(c, y, a.col + KIND, 6, ROLE_DIM, view_kind_word(method->kind));
    view_name(c, y, a.col + NAME, a.cols - NAME, view_frame_role(method->kind, tier),
              model_method_name(m, r->method, name, sizeof name), method->kind, m);
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct methods_state *v = state;
    char heads[128];
    snprintf(heads, sizeof heads, "  SELF%%    %s   TOTAL%%   SELF T KIND   METHOD",
             canvas_glyph(c, GLYPH_PLUS_MINUS));
    view_heads(c, a, heads);
    uint32_t count = m->snapshot ? m->snapshot->method_count : 0;
    uint32_t page = a.rows > 1 ? (uint32_t)a.rows - 1 : 0;
    cursor_fit(&v->cursor, count, page);
    if (count == 0) {
        view_empty(c, a, m);
        return a.row;
    }
    for (uint32_t i = 0; i < page && v->cursor.top + i < count; i++)
        draw_row(c, a, a.row + 1 + (int)i, m, &m->snapshot->methods[v->cursor.top + i]);
    int at = a.row + 1 + (int)(v->cursor.row - v->cursor.top);
    if (page)
        view_cursor_row(c, a, at);
    return at;
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct methods_state *v = state;
    struct cursor_rows rows = rows_of(m);
    return cursor_command(&v->cursor, cmd, &rows) ? VIEW_DONE : VIEW_IGNORED;
}

const struct view_type view_methods = {
    .title = "methods",
    .key = '1',
    .scope = SCOPE_METHODS,
    .open = open_methods,
    .close = free,
    .update = update,
    .draw = draw,
    .command = command,
};
