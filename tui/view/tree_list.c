#include "tui/view/tree_list.h"

static uint64_t item(const void *arg, uint32_t row) {
    const struct tree_rows *t = arg;
    return t->row[row].path;
}

static struct cursor_rows tree_list_rows(const struct tree_list *l) {
    return (struct cursor_rows){.count = l->rows.count, .item = item, .arg = &l->rows};
}

void tree_list_free(struct tree_list *l) {
    tree_rows_free(&l->rows);
}

void tree_list_build(struct tree_list *l, const struct snapshot *s) {
    tree_rows_build(&l->rows, s, l->seed);
    struct cursor_rows rows = tree_list_rows(l);
    cursor_follow(&l->cursor, &rows);
}

uint32_t tree_list_node_at(const struct tree_list *l, const struct snapshot *s, uint32_t row) {
    row = row == VIEW_CURSOR ? l->cursor.row : row;
    if (!s || row >= l->rows.count)
        return SNAPSHOT_ROOT;
    uint32_t node = l->rows.row[row].node;
    return node < s->node_count ? node : SNAPSHOT_ROOT;
}

uint32_t tree_list_node(const struct tree_list *l, const struct snapshot *s) {
    return tree_list_node_at(l, s, VIEW_CURSOR);
}

static void select_row(struct tree_list *l, uint32_t row) {
    struct cursor_rows rows = tree_list_rows(l);
    cursor_select(&l->cursor, row, &rows);
}

/* False for commands that open nothing. */
static bool open_rows(struct tree_list *l, const struct snapshot *s, enum command cmd) {
    uint32_t at = l->cursor.row;
    switch (cmd) {
    case COMMAND_ENTER:
    case COMMAND_EXPAND:
        tree_rows_open(&l->rows, s, at);
        return true;
    case COMMAND_HOTTEST:
        tree_rows_open_hottest(&l->rows, s, at);
        return true;
    case COMMAND_EXPAND_ALL:
        l->cut = !tree_rows_open_below(&l->rows, s, l->seed, at);
        return true;
    case COMMAND_UNFOLD:
        l->cut = !tree_rows_open_below(&l->rows, s, l->seed, SNAPSHOT_ROOT);
        return true;
    default:
        return false;
    }
}

static bool fold_row(struct tree_list *l, const struct snapshot *s, enum command cmd) {
    uint32_t at = l->cursor.row;
    const struct tree_row *r = &l->rows.row[at];
    if (cmd == COMMAND_ENTER)
        cmd = r->open ? COMMAND_COLLAPSE : COMMAND_EXPAND;
    select_row(l, at); /* the cursor stays on the row that was opened */
    if (cmd == COMMAND_EXPAND && r->open) {
        select_row(l, at + 1);
        return true;
    }
    if (cmd != COMMAND_COLLAPSE)
        return open_rows(l, s, cmd);
    if (r->open)
        tree_rows_close(&l->rows, r->path);
    else if (r->parent_row != SNAPSHOT_ROOT)
        select_row(l, r->parent_row);
    l->cut = false;
    return true;
}

void tree_list_open(struct tree_list *l, const struct snapshot *s, enum command cmd) {
    if (l->cursor.row < l->rows.count && open_rows(l, s, cmd))
        tree_list_build(l, s);
}

/* Closes the whole tree. The cursor moves to the root above it. */
static void fold_all(struct tree_list *l) {
    uint32_t row = l->cursor.row;
    while (l->rows.row[row].parent_row != SNAPSHOT_ROOT)
        row = l->rows.row[row].parent_row;
    if (l->cursor.held)
        select_row(l, row);
    tree_rows_close_all(&l->rows);
    l->cut = false;
}

bool tree_list_command(struct tree_list *l, const struct snapshot *s, enum command cmd) {
    struct cursor_rows rows = tree_list_rows(l);
    if (cursor_command(&l->cursor, cmd, &rows))
        return true;
    if (!s || l->cursor.row >= l->rows.count)
        return false;
    if (cmd == COMMAND_FOLD)
        fold_all(l);
    else if (!fold_row(l, s, cmd))
        return false;
    tree_list_build(l, s);
    return true;
}

static int fold_column(const struct tree_list *l, const struct tree_row *r) {
    int levels = r->level > l->hidden ? r->level - l->hidden : 0;
    return l->left + 2 * levels + (r->branch && r->level >= l->hidden ? 2 : 0);
}

bool tree_list_mouse(struct tree_list *l, const struct snapshot *s, struct area a,
                     const struct mouse *press) {
    struct cursor_rows rows = tree_list_rows(l);
    bool enter;
    if (!view_mouse_list(&l->cursor, a, 1, press, &rows, &enter))
        return false;
    if (press->action != MOUSE_PRESS && press->action != MOUSE_TWICE)
        return true;
    int fold = fold_column(l, &l->rows.row[l->cursor.row]);
    if (enter || press->col == fold)
        (void)tree_list_command(l, s, COMMAND_ENTER);
    return true;
}

void tree_list_go(struct tree_list *l, const struct snapshot *s, uint32_t node) {
    tree_rows_reveal(&l->rows, s, l->seed, node);
    tree_rows_build(&l->rows, s, l->seed);
    for (uint32_t i = 0; i < l->rows.count; i++)
        if (l->rows.row[i].node == node) {
            select_row(l, i);
            return;
        }
}

bool tree_list_find(struct tree_list *l, const struct snapshot *s, int by,
                    const struct tree_matches *matches) {
    uint32_t at = tree_list_node(l, s), count = s ? s->node_count : 0;
    if (at == SNAPSHOT_ROOT)
        return false;
    for (uint32_t i = by ? 1 : 0; i <= count; i++) {
        uint32_t node = by < 0 ? (at + count - i % count) % count : (at + i) % count;
        if (tree_matches_has(matches, s->nodes[node].method)) {
            tree_list_go(l, s, node);
            return true;
        }
    }
    return false;
}

void tree_list_fit(struct tree_list *l, uint32_t page, int left, int end) {
    cursor_fit(&l->cursor, l->rows.count, page);
    l->left = left;
    l->hidden = 0;
    if (l->cursor.row >= l->rows.count)
        return;
    int level = l->rows.row[l->cursor.row].level, fit = (end - left) / 2 / 2;
    l->hidden = level > fit ? level - fit : 0;
}

int tree_list_lines(const struct tree_list *l, struct canvas *c, int y, int end,
                    const struct tree_row *r) {
    int x = l->left, level = l->hidden;
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
    return x + 2;
}
