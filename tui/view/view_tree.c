/*
 * The call tree view: top-down (callees below their callers), or bottom-up (callers below the
 * leaves they led to); of everything, of each thread, or from one method on.
 */
#include "tui/view/tree_list.h"
#include "tui/view/view.h"
#include "core/base/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Samples needed before the hottest path opens by itself. With fewer, it would be random. */
#define OPEN_SAMPLES 20

struct tree_state {
    struct tree_list list;
    struct tree_matches matches;
    bool opened[4];       /* the first path was opened, by kind of tree */
    uint64_t opened_from; /* the last tree from a method in which that was done */
    uint32_t seek;        /* method to go to; METHOD_NONE: none */
    /* Roots that were open when note_open was called last, by method: the answer needs only what is
     * below them. */
    uint32_t open_root[MODEL_OPEN_ROOTS], open_roots;
    bool whole;           /* more may be open than these */
    enum command pending; /* how to go on opening, once the next answer has what is below */
    bool pends;
};

/* Positions of the columns, -1: not shown. The tree takes the rest. */
struct columns {
    int self, weight, change, tier, tree;
};

static struct columns columns_of(const struct model *m, int cols) {
    struct columns at = {.self = -1, .weight = -1, .change = -1, .tier = -1};
    bool narrow = cols < VIEW_NARROW_COLS;
    int x = 9;                           /* after the total */
    if (!narrow && !m->asked.inverted) { /* bottom-up, self has no meaning: the root's total is the
                                            self time */
        at.self = x;
        x += 7;
    }
    if (!narrow) {
        at.weight = x;
        x += 8;
    }
    if (m->diff) {
        at.change = x;
        x += 8;
    }
    if (!narrow) {
        at.tier = x;
        x += 2;
    }
    at.tree = x;
    return at;
}

static void *open_tree(const struct model *m) {
    (void)m;
    struct tree_state *v = calloc(1, sizeof *v);
    if (v)
        v->seek = METHOD_NONE;
    return v;
}

static void close_tree(void *state) {
    struct tree_state *v = state;
    if (!v)
        return;
    tree_list_free(&v->list);
    tree_matches_free(&v->matches);
    free(v);
}

static void want(void *state, struct model_question *q) {
    const struct tree_state *v = state;
    q->tree = true;
    q->from_method = q->with_method;
    q->close_roots = !v->whole && v->seek == METHOD_NONE;
    q->open_ppm = 0;
    q->open_roots = v->open_roots;
    memcpy(q->open_root, v->open_root, sizeof q->open_root);
}

/* Notes the roots that are open. Returns whether the answer lacks what is below one of them. */
static bool note_open(struct tree_state *v, const struct snapshot *s) {
    bool lacks = false;
    v->open_roots = 0;
    v->whole = !v->list.rows.count; /* what was open is open in the next answer that has rows */
    for (uint32_t i = 0; i < v->list.rows.count; i++) {
        const struct tree_row *r = &v->list.rows.row[i];
        if (r->parent_row != SNAPSHOT_ROOT || !tree_rows_is_open(&v->list.rows, r->path))
            continue; /* a leaf may be open too: what is below it is too light now */
        lacks |= s->nodes[r->node].closed;
        if (v->open_roots < MODEL_OPEN_ROOTS)
            v->open_root[v->open_roots++] = s->nodes[r->node].method;
        else
            v->whole = true;
    }
    return lacks;
}

/* True once for each kind of tree: a user who closes the path again wants it closed. */
static bool opens_first(struct tree_state *v, const struct model *m) {
    if (!v->list.rows.count || m->snapshot->samples < OPEN_SAMPLES)
        return false;
    bool closed =
        m->snapshot->nodes[v->list.rows.row[0].node].closed; /* then with the next answer */
    if (m->asked.from_method) {
        bool first = v->opened_from != v->list.seed;
        v->opened_from = closed ? v->opened_from : v->list.seed;
        return first;
    }
    bool first = !v->opened[v->list.seed & 3];
    v->opened[v->list.seed & 3] = !closed;
    return first;
}

static void update(void *state, const struct model *m) {
    struct tree_state *v = state;
    if (v->list.seed != tree_seed(m)) {
        v->list.seed = tree_seed(m);
        v->list.cursor = (struct cursor){0};
    }
    tree_list_build(&v->list, m->snapshot);
    if (opens_first(v, m)) {
        tree_rows_open(&v->list.rows, m->snapshot, 0);
        tree_list_build(&v->list, m->snapshot);
    }
    if (v->pends)
        tree_list_open(&v->list, m->snapshot, v->pending);
    v->pends = false;
    uint32_t node = v->seek == METHOD_NONE ? SNAPSHOT_ROOT : tree_hottest_of(m->snapshot, v->seek);
    v->seek = METHOD_NONE;
    if (node != SNAPSHOT_ROOT)
        tree_list_go(&v->list, m->snapshot, node);
    (void)note_open(v, m->snapshot);
}

static void draw_row(const struct tree_state *v, struct canvas *c, struct area a, int y,
                     const struct columns *at, const struct model *m, const struct tree_row *r) {
    const struct snapshot *s = m->snapshot;
    const struct snapshot_node *n = &s->nodes[r->node];
    const struct method *method = model_method(m, n->method);
    enum frame_tier tier = snapshot_main_tier(n->tier);
    int end = a.col + a.cols;
    char name[1024];
    view_percent(c, y, a.col + 2, 6, percent_of(n->total, s->weight));
    if (at->self >= 0)
        view_percent(c, y, a.col + at->self, 6, percent_of(n->self, s->weight));
    if (at->weight >= 0)
        view_weight(c, y, a.col + at->weight, 7, m, n->total, n->total_samples);
    if (at->change >= 0 && m->diff) {
        struct diff_change change = diff_node(m->diff, r->node);
        view_change(c, y, a.col + at->change, 7, &change);
    }
    if (at->tier >= 0)
        canvas_textf(c, y, a.col + at->tier, 1, ROLE_DIM, "%c",
                     method->kind == METHOD_JAVA ? view_tier_letter(tier) : ' ');
    int x = tree_list_lines(&v->list, c, y, end, r);
    view_name(c, y, x, end - x, view_frame_role(method->kind, tier),
              model_method_name(m, n->method, name, sizeof name), method->kind, m);
}

static const char *title(const struct model *m, int cols) {
    const struct model_question *q = &m->asked;
    if (cols < 40)
        return q->from_method ? (q->inverted ? "CALLERS OF " : "CALLS OF ")
               : q->inverted  ? "BOTTOM-UP"
                              : "CALL TREE";
    if (q->from_method)
        return q->inverted ? "WHO CALLS " : "WHAT IS CALLED BY ";
    return q->by_thread  ? (q->inverted ? "BOTTOM-UP, OF EACH THREAD" : "CALL TREE OF EACH THREAD")
           : q->inverted ? "BOTTOM-UP: LEAVES AND WHO CALLS THEM"
                         : "CALL TREE";
}

static void draw_heads(const struct tree_state *v, struct canvas *c, struct area a,
                       const struct columns *at, const struct model *m) {
    char name[1024];
    int x = a.col + at->tree, end = a.col + a.cols;
    view_heads(c, a, "  TOTAL%");
    if (at->self >= 0)
        canvas_right(c, a.row, a.col + at->self, 6, ROLE_COLUMNS, "SELF%");
    if (at->weight >= 0)
        canvas_right(c, a.row, a.col + at->weight, 7, ROLE_COLUMNS, view_weight_head(m));
    if (at->change >= 0)
        canvas_right(c, a.row, a.col + at->change, 6, ROLE_COLUMNS, "CHANGE");
    if (at->tier >= 0)
        canvas_text(c, a.row, a.col + at->tier, 1, ROLE_COLUMNS, "T");
    x += canvas_text(c, a.row, x, end - x, ROLE_COLUMNS, title(m, a.cols - at->tree));
    if (m->asked.from_method)
        x += canvas_tail(c, a.row, x, end - x, ROLE_COLUMNS,
                         model_method_name(m, m->asked.method, name, sizeof name));
    if (v->list.cut)
        canvas_textf(c, a.row, x, end - x, ROLE_COLUMNS, "  (not all: %u are open)", TREE_OPEN_MAX);
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct tree_state *v = state;
    struct columns at = columns_of(m, a.cols);
    struct tag tag;
    draw_heads(v, c, a, &at, m);
    uint32_t count = m->snapshot ? v->list.rows.count : 0;
    uint32_t page = a.rows > 1 ? (uint32_t)a.rows - 1 : 0;
    tree_list_fit(&v->list, page, a.col + at.tree, a.col + a.cols);
    if (count == 0) {
        view_empty(c, a, m);
        return a.row;
    }
    const struct cursor *k = &v->list.cursor;
    for (uint32_t i = 0; i < page && k->top + i < count; i++) {
        const struct tree_row *r = &v->list.rows.row[k->top + i];
        draw_row(v, c, a, a.row + 1 + (int)i, &at, m, r);
        if (m->tags.count && tree_tag(m, m->snapshot, r->node, &tag))
            view_tag_mark(c, a, a.row + 1 + (int)i, m, tag);
    }
    int row = a.row + 1 + (int)(k->row - k->top);
    if (page)
        view_cursor_row(c, a, row);
    return row;
}

/* Asks for what is below the roots that were opened. */
static enum view_outcome complete(struct tree_state *v, const struct model *m, enum command cmd) {
    v->pends = false;
    if (!m->snapshot || !note_open(v, m->snapshot))
        return VIEW_DONE;
    const struct tree_row *r = &v->list.rows.row[v->list.cursor.row];
    v->pending = cmd;
    v->pends = cmd == COMMAND_UNFOLD || (r->open && m->snapshot->nodes[r->node].closed);
    return VIEW_ASK;
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct tree_state *v = state;
    if (cmd == COMMAND_INVERT) {
        m->question.inverted = !m->question.inverted;
        return VIEW_ASK;
    }
    if (cmd == COMMAND_BY_THREAD) {
        m->question.by_thread = !m->question.by_thread;
        return VIEW_ASK;
    }
    return tree_list_command(&v->list, m->snapshot, cmd) ? complete(v, m, cmd) : VIEW_IGNORED;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    struct tree_state *v = state;
    return tree_list_mouse(&v->list, m->snapshot, a, press) ? complete(v, m, COMMAND_EXPAND)
                                                            : VIEW_IGNORED;
}

static bool find(void *state, int by, const struct model *m) {
    struct tree_state *v = state;
    tree_matches_update(&v->matches, m);
    bool found = tree_list_find(&v->list, m->snapshot, by, &v->matches);
    if (found)
        (void)note_open(v, m->snapshot);
    return found;
}

static bool subject(const void *state, const struct model *m, struct view_subject *out) {
    const struct tree_state *v = state;
    return tree_subject(m, m->snapshot, tree_list_node(&v->list, m->snapshot), out);
}

static void seek(void *state, const struct view_subject *s) {
    struct tree_state *v = state;
    v->seek = s->method;
}

static void leave(const void *state, const struct model *m, struct view_place *out) {
    const struct tree_state *v = state;
    (void)m;
    *out = (struct view_place){.cursor = v->list.cursor, .of = v->list.seed, .method = METHOD_NONE};
}

static void come_back(void *state, const struct view_place *p) {
    struct tree_state *v = state;
    v->list.cursor = p->cursor;
    v->whole = true;      /* what was open then is open again */
    v->list.seed = p->of; /* if the next answer has another tree, its first row is selected */
    v->seek = METHOD_NONE;
}

static bool tag(const void *state, const struct model *m, uint32_t row, struct tag *out) {
    const struct tree_state *v = state;
    return tree_tag(m, m->snapshot, tree_list_node_at(&v->list, m->snapshot, row), out);
}

/* Methods count by their self time. If none is tagged, threads count, in a tree of each thread. */
static void tagged(const void *state, const struct model *m, struct tag_sum *out) {
    (void)state;
    model_tagged_methods(m, out);
    bool threads = !out->seen && m->asked.by_thread;
    for (uint32_t i = 0; threads && i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];
        tags_add(&m->tags, out,
                 (struct tag){TAG_THREAD,
                              model_thread_key(t->is_virtual, t->java_id, t->tid, t->state == 'X')},
                 t->weight);
    }
}

static void copy(const void *state, const struct model *m, uint32_t row, struct text *out) {
    const struct tree_state *v = state;
    tree_copy(m, m->snapshot, tree_list_node_at(&v->list, m->snapshot, row), out);
}

const struct view_type view_tree = {
    .title = "call tree",
    .key = '3',
    .scope = SCOPE_TREE,
    .name = "tree",
    .event = -1,
    .want = want,
    .open = open_tree,
    .close = close_tree,
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
    .tag = tag,
    .tagged = tagged,
    .tagged_of = "self",
};
