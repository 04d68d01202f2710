/*
 * The call tree: top-down (callees below their callers), or bottom-up (callers below the leaves
 * they led to).
 */
#include "tui/cursor.h"
#include "tui/format.h"
#include "tui/tree_rows.h"
#include "tui/view.h"

#include <stdlib.h>

/* Where the columns stand; the tree takes the rest. */
enum { TOTAL = 2, SELF = 9, SAMPLES = 16, TIER = 24, TREE = 26 };

/* Samples before the hottest path opens by itself: earlier it would be a random one. */
#define OPEN_SAMPLES 20

struct tree_state {
    struct cursor cursor;
    struct tree_rows rows;
    bool opened[4]; /* the first opening was made, by kind */
    unsigned kind;  /* of tree that `rows` shows */
};

/* Trees of different kinds have nothing in common: what is open in one says nothing in another. */
static unsigned kind_of(const struct model *m) {
    return (m->question.inverted ? 1u : 0u) | (m->question.by_thread ? 2u : 0u);
}

static uint64_t item(const void *arg, uint32_t row) {
    const struct tree_rows *t = arg;
    return t->row[row].path;
}

static struct cursor_rows rows_of(const struct tree_state *v) {
    return (struct cursor_rows){.count = v->rows.count, .item = item, .arg = &v->rows};
}

static void *open_tree(void) {
    return calloc(1, sizeof(struct tree_state));
}

static void close_tree(void *state) {
    struct tree_state *v = state;
    if (v)
        tree_rows_free(&v->rows);
    free(v);
}

static void build(struct tree_state *v, const struct model *m) {
    tree_rows_build(&v->rows, m->snapshot, v->kind);
    struct cursor_rows rows = rows_of(v);
    cursor_follow(&v->cursor, &rows);
}

static void update(void *state, const struct model *m) {
    struct tree_state *v = state;
    if (v->kind != kind_of(m)) {
        v->kind = kind_of(m);
        v->cursor = (struct cursor){0};
    }
    build(v, m);
    if (!v->opened[v->kind] && v->rows.count && m->snapshot->samples >= OPEN_SAMPLES) {
        v->opened[v->kind] = true;
        tree_rows_open(&v->rows, m->snapshot, 0);
        build(v, m);
    }
}

/* Deep trees: levels left of this one are not drawn, so that the cursor's row shows its name. */
static int first_level(const struct tree_state *v, int cols) {
    if (v->cursor.row >= v->rows.count)
        return 0;
    int level = v->rows.row[v->cursor.row].level, fit = cols / 2 / 2;
    return level > fit ? level - fit : 0;
}

static void draw_row(const struct tree_state *v, struct canvas *c, struct area a, int y,
                     const struct model *m, const struct tree_row *r) {
    bool inverted = m->question.inverted;
    const struct snapshot *s = m->snapshot;
    const struct snapshot_node *n = &s->nodes[r->node];
    const struct method *method = model_method(m, n->method);
    enum frame_tier tier = snapshot_main_tier(n->tier);
    char name[1024];
    struct format f = {""};
    view_percent(c, y, a.col + TOTAL, 6, percent_of(n->total, s->weight));
    if (!inverted) /* bottom-up, a path's end says nothing: the root's total is the self time */
        view_percent(c, y, a.col + SELF, 6, percent_of(n->self, s->weight));
    canvas_right(c, y, a.col + SAMPLES, 7, ROLE_NUMBER, format_short_count(&f, n->total_samples));
    canvas_textf(c, y, a.col + TIER, 1, ROLE_DIM, "%c",
                 method->kind == METHOD_JAVA ? view_tier_letter(tier) : ' ');
    int x = a.col + TREE, end = a.col + a.cols;
    int level = first_level(v, a.cols - TREE);
    if (level)
        canvas_text(c, y, x - 1, 1, ROLE_GLYPH, canvas_glyph(c, GLYPH_ELLIPSIS));
    for (; level < r->level; level++, x += 2)
        if (level < 64 && r->pipes >> level & 1)
            canvas_text(c, y, x, end - x, ROLE_GLYPH, canvas_glyph(c, GLYPH_PIPE));
    if (r->branch && level == r->level) {
        canvas_text(c, y, x, end - x, ROLE_GLYPH,
                    canvas_glyph(c, r->last ? GLYPH_LAST : GLYPH_BRANCH));
        x += 2;
    }
    canvas_text(c, y, x, end - x, ROLE_GLYPH,
                canvas_glyph(c, r->leaf   ? GLYPH_LEAF
                                : r->open ? GLYPH_OPEN
                                          : GLYPH_CLOSED));
    x += 2;
    view_name(c, y, x, end - x, view_frame_role(method->kind, tier),
              model_method_name(m, n->method, name, sizeof name), method->kind, m);
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct tree_state *v = state;
    static const char *const heads[] = {
        "  TOTAL%  SELF% SAMPLES T CALL TREE",
        "  TOTAL%        SAMPLES T BOTTOM-UP: LEAVES AND WHO CALLS THEM",
        "  TOTAL%  SELF% SAMPLES T CALL TREE OF EACH THREAD",
        "  TOTAL%        SAMPLES T BOTTOM-UP, OF EACH THREAD",
    };
    view_heads(c, a, heads[kind_of(m)]);
    uint32_t count = m->snapshot ? v->rows.count : 0;
    uint32_t page = a.rows > 1 ? (uint32_t)a.rows - 1 : 0;
    cursor_fit(&v->cursor, count, page);
    if (count == 0) {
        view_empty(c, a, m);
        return a.row;
    }
    for (uint32_t i = 0; i < page && v->cursor.top + i < count; i++)
        draw_row(v, c, a, a.row + 1 + (int)i, m, &v->rows.row[v->cursor.top + i]);
    int at = a.row + 1 + (int)(v->cursor.row - v->cursor.top);
    if (page)
        view_cursor_row(c, a, at);
    return at;
}

static enum view_outcome fold(struct tree_state *v, enum command cmd, const struct model *m) {
    uint32_t at = v->cursor.row;
    const struct tree_row *r = &v->rows.row[at];
    struct cursor_rows rows = rows_of(v);
    if (cmd == COMMAND_ENTER)
        cmd = r->open ? COMMAND_COLLAPSE : COMMAND_EXPAND;
    cursor_select(&v->cursor, at, &rows); /* what was opened is what the cursor stays on */
    switch (cmd) {
    case COMMAND_EXPAND:
        if (r->open)
            cursor_select(&v->cursor, at + 1, &rows);
        else
            tree_rows_open(&v->rows, m->snapshot, at);
        break;
    case COMMAND_COLLAPSE:
        if (r->open)
            tree_rows_close(&v->rows, r->path);
        else if (r->parent_row != SNAPSHOT_ROOT)
            cursor_select(&v->cursor, r->parent_row, &rows);
        break;
    case COMMAND_HOTTEST:
        tree_rows_open_hottest(&v->rows, m->snapshot, at);
        break;
    default:
        return VIEW_IGNORED;
    }
    build(v, m);
    return VIEW_DONE;
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct tree_state *v = state;
    struct cursor_rows rows = rows_of(v);
    if (cmd == COMMAND_INVERT) {
        m->question.inverted = !m->question.inverted;
        return VIEW_ASK;
    }
    if (cmd == COMMAND_BY_THREAD) {
        m->question.by_thread = !m->question.by_thread;
        return VIEW_ASK;
    }
    if (cursor_command(&v->cursor, cmd, &rows))
        return VIEW_DONE;
    if (!m->snapshot || v->cursor.row >= v->rows.count)
        return VIEW_IGNORED;
    return fold(v, cmd, m);
}

const struct view_type view_tree = {
    .title = "call tree",
    .key = '3',
    .scope = SCOPE_TREE,
    .tree = true,
    .open = open_tree,
    .close = close_tree,
    .update = update,
    .draw = draw,
    .command = command,
};
