/*
 * The allocation view: which classes are allocated, how much of each is still alive, and which code
 * allocates them.
 */
#include "tui/model/alloc_tree.h"
#include "tui/view/tree_list.h"
#include "tui/view/view.h"
#include "core/base/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 64      /* levels opened by one press */
#define OPEN_ENOUGH 4096u /* open nodes; with more, no further levels are opened */
#define SEED UINT64_C(0xa110c)

struct alloc_state {
    struct tree_list list;
    struct alloc_tree alloc;
    struct tree_matches matches;
    uint32_t seek; /* METHOD_NONE: nothing */
};

/* Positions of the columns, -1: not shown. The tree takes the rest. */
struct columns {
    int rate, samples, live, change, tree;
};

static struct columns columns_of(const struct model *m, int cols) {
    struct columns at = {.rate = -1, .samples = -1, .live = -1, .change = -1};
    bool narrow = cols < VIEW_NARROW_COLS;
    int x = 15; /* after share and bytes */
    if (!narrow) {
        at.rate = x;
        at.samples = x + 8;
        x += 16;
    }
    if (!narrow && m->rows[EVENT_LIVE].snapshot) {
        at.live = x;
        x += 6;
    }
    if (!narrow && m->diff) {
        at.change = x;
        x += 8;
    }
    at.tree = x + 1;
    return at;
}

static void *open_alloc(const struct model *m) {
    (void)m;
    struct alloc_state *v = calloc(1, sizeof *v);
    if (v) {
        v->list.seed = SEED;
        v->seek = METHOD_NONE;
    }
    return v;
}

static void close_alloc(void *state) {
    struct alloc_state *v = state;
    if (!v)
        return;
    tree_list_free(&v->list);
    alloc_tree_free(&v->alloc);
    tree_matches_free(&v->matches);
    free(v);
}

static void want(void *state, struct model_question *q) {
    (void)state;
    q->tree = q->others = true;
}

static enum alloc_frame frame_of(const void *arg, uint32_t id) {
    const struct method *method = model_method(arg, id);
    if (method->kind == METHOD_THREAD)
        return ALLOC_THREAD;
    if (method->kind != METHOD_JAVA)
        return ALLOC_NO_CODE;
    return method_is_jdk(method) ? ALLOC_JDK : ALLOC_OWN;
}

static void build(struct alloc_state *v, const struct model *m) {
    const struct alloc_ask ask = {.snapshot = m->snapshot,
                                  .inverted = m->asked.inverted,
                                  .open = &v->list.rows,
                                  .seed = SEED,
                                  .what = frame_of,
                                  .arg = m};
    (void)alloc_tree_build(&v->alloc, &ask); /* no memory: the part that was built is shown */
    tree_list_build(&v->list, &v->alloc.tree);
}

static void update(void *state, const struct model *m) {
    struct alloc_state *v = state;
    build(v, m);
    uint32_t node =
        v->seek == METHOD_NONE ? SNAPSHOT_ROOT : tree_hottest_of(&v->alloc.tree, v->seek);
    v->seek = METHOD_NONE;
    if (node != SNAPSHOT_ROOT)
        tree_list_go(&v->list, &v->alloc.tree, node);
}

/* Writes a node's name. Classes get no mark, because their column shows what they are. */
static const char *node_name(const struct model *m, uint32_t id, char *out, size_t size) {
    const struct method *method = model_method(m, id);
    if (method->kind != METHOD_CLASS)
        return model_method_name(m, id, out, size);
    out[0] = '\0';
    frame_name(method, m->style & ~(unsigned)NAME_MARKS, out, size);
    return out;
}

static void draw_name(const struct alloc_state *v, struct canvas *c, struct area a, int y,
                      const struct model *m, const struct tree_row *r) {
    const struct alloc_extra *extra = &v->alloc.extra[r->node];
    const struct snapshot_node *n = &v->alloc.tree.nodes[r->node];
    const struct method *method = model_method(m, n->method);
    int end = a.col + a.cols, x = tree_list_lines(&v->list, c, y, end, r);
    char name[1024];
    enum role role = n->depth ? view_frame_role(method->kind, TIER_NONE) : ROLE_VALUE;
    node_name(m, n->method, name, sizeof name);
    view_name(c, y, x, end - x, role, name, method->kind, m);
    x += canvas_width(c, name) + 2;
    if (extra->via == METHOD_NONE || end - x < 12)
        return;
    x += canvas_textf(c, y, x, end - x, ROLE_DIM, "via ");
    model_method_name(m, extra->via, name, sizeof name);
    int room = end - x - (extra->more_ways ? 2 : 0);
    x += canvas_tail(c, y, x, room, ROLE_DIM, tree_short_name(c, name, METHOD_JAVA, room));
    if (extra->more_ways)
        canvas_textf(c, y, x, end - x, ROLE_DIM, " %s", canvas_glyph(c, GLYPH_ELLIPSIS));
}

static void draw_bytes(struct canvas *c, int y, int x, int cols, uint64_t bytes) {
    struct format f = {""};
    canvas_right(c, y, x, cols, ROLE_NUMBER, format_bytes(&f, bytes));
}

static void draw_row(const struct alloc_state *v, struct canvas *c, struct area a, int y,
                     const struct columns *at, const struct model *m, const struct tree_row *r) {
    const struct snapshot *s = m->snapshot;
    const struct snapshot_node *n = &v->alloc.tree.nodes[r->node];
    const struct alloc_extra *extra = &v->alloc.extra[r->node];
    const struct model_rows *live = &m->rows[EVENT_LIVE];
    struct format f = {""};
    view_percent(c, y, a.col + 2, 6, percent_of(n->total, s->weight));
    draw_bytes(c, y, a.col + 9, 5, n->total);
    if (at->rate >= 0)
        draw_bytes(c, y, a.col + at->rate, 7, snapshot_per_second(s, n->total));
    if (at->samples >= 0)
        canvas_right(c, y, a.col + at->samples, 7, ROLE_NUMBER,
                     format_short_count(&f, n->total_samples));
    if (at->live >= 0 && extra->method_row != UINT32_MAX && n->method < live->methods &&
        live->part[n->method])
        draw_bytes(c, y, a.col + at->live, 5, live->part[n->method]);
    if (at->change >= 0 && m->diff && extra->method_row < s->method_count) {
        struct diff_change change = diff_method_self(m->diff, extra->method_row);
        view_change(c, y, a.col + at->change, 7, &change);
    }
    draw_name(v, c, a, y, m, r);
}

static void draw_heads(const struct alloc_state *v, struct canvas *c, struct area a,
                       const struct columns *at) {
    bool cut = v->list.cut || v->alloc.cut;
    int x = a.col + at->tree, cols = a.cols - at->tree;
    view_heads(c, a, "  BYTES% BYTES");
    if (at->rate >= 0)
        canvas_right(c, a.row, a.col + at->rate, 7, ROLE_COLUMNS, "BYTES/s");
    if (at->samples >= 0)
        canvas_right(c, a.row, a.col + at->samples, 7, ROLE_COLUMNS, "SAMPLES");
    if (at->live >= 0)
        canvas_right(c, a.row, a.col + at->live, 5, ROLE_COLUMNS, "ALIVE");
    if (at->change >= 0)
        canvas_right(c, a.row, a.col + at->change, 6, ROLE_COLUMNS, "CHANGE");
    int used =
        canvas_text(c, a.row, x, cols, ROLE_COLUMNS,
                    cols >= 50 || (cols >= 40 && !cut) ? "CLASS, SITES THAT ALLOCATE IT, CALLERS"
                    : cut                              ? "CLASS, SITES"
                                                       : "CLASS AND SITES");
    if (cut)
        canvas_text(c, a.row, x + used, cols - used, ROLE_COLUMNS, "  (not all)");
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct alloc_state *v = state;
    struct columns at = columns_of(m, a.cols);
    struct tag tag;
    draw_heads(v, c, a, &at);
    bool ours = m->asked.event == WIRE_EVENT_ALLOC; /* the first answer may be of another event */
    uint32_t count = m->snapshot && ours ? v->list.rows.count : 0;
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
        if (m->tags.count && tree_tag(m, &v->alloc.tree, r->node, &tag))
            view_tag_mark(c, a, a.row + 1 + (int)i, m, tag);
    }
    int row = a.row + 1 + (int)(k->row - k->top);
    if (page)
        view_cursor_row(c, a, row);
    return row;
}

/* Continues an opening command level by level, because each build shows only one more level. Ends
 * when no more nodes open. */
static void open_on(struct alloc_state *v, const struct model *m, enum command cmd) {
    for (int i = 0; i < STEPS_MAX && v->list.rows.open.count < OPEN_ENOUGH; i++) {
        uint32_t before = v->list.rows.open.count;
        if (cmd == COMMAND_EXPAND)
            tree_rows_open(&v->list.rows, &v->alloc.tree, v->list.cursor.row);
        else
            (void)tree_list_command(&v->list, &v->alloc.tree, cmd);
        if (v->list.rows.open.count == before)
            return;
        build(v, m);
    }
}

static bool opens(const struct alloc_state *v, enum command cmd) {
    const struct tree_row *r = &v->list.rows.row[v->list.cursor.row];
    return cmd == COMMAND_HOTTEST || cmd == COMMAND_EXPAND_ALL || cmd == COMMAND_UNFOLD ||
           ((cmd == COMMAND_EXPAND || cmd == COMMAND_ENTER) && !r->open);
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct alloc_state *v = state;
    if (!m->snapshot || v->list.cursor.row >= v->list.rows.count)
        return VIEW_IGNORED;
    bool on = opens(v, cmd);
    if (!tree_list_command(&v->list, &v->alloc.tree, cmd))
        return VIEW_IGNORED;
    build(v, m);
    if (on)
        open_on(v, m, cmd == COMMAND_ENTER ? COMMAND_EXPAND : cmd);
    return VIEW_DONE;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    struct alloc_state *v = state;
    uint32_t before = v->list.rows.open.count;
    if (!m->snapshot || !tree_list_mouse(&v->list, &v->alloc.tree, a, press))
        return VIEW_IGNORED;
    build(v, m);
    if (v->list.rows.open.count > before)
        open_on(v, m, COMMAND_EXPAND);
    return VIEW_DONE;
}

/* Finds classes, and rows that are unfolded. */
static bool find(void *state, int by, const struct model *m) {
    struct alloc_state *v = state;
    tree_matches_update(&v->matches, m);
    return tree_list_find(&v->list, &v->alloc.tree, by, &v->matches);
}

static bool subject(const void *state, const struct model *m, struct view_subject *out) {
    const struct alloc_state *v = state;
    return tree_subject(m, &v->alloc.tree, tree_list_node(&v->list, &v->alloc.tree), out);
}

static void seek(void *state, const struct view_subject *s) {
    struct alloc_state *v = state;
    v->seek = s->method;
}

static void leave(const void *state, const struct model *m, struct view_place *out) {
    const struct alloc_state *v = state;
    (void)m;
    *out = (struct view_place){.cursor = v->list.cursor, .method = METHOD_NONE};
}

static void come_back(void *state, const struct view_place *p) {
    struct alloc_state *v = state;
    v->list.cursor = p->cursor;
    v->seek = METHOD_NONE;
}

static bool tag(const void *state, const struct model *m, uint32_t row, struct tag *out) {
    const struct alloc_state *v = state;
    return tree_tag(m, &v->alloc.tree, tree_list_node_at(&v->list, &v->alloc.tree, row), out);
}

/* The stacks end in classes, so code has no self weight: what counts is who is on a stack. */
static void tagged(const void *state, const struct model *m, struct tag_sum *out) {
    (void)state;
    model_tagged_stacks(m, out);
}

/* Copies the class, the JDK method called by the site, the site, and its callers. */
static void copy(const void *state, const struct model *m, uint32_t row, struct text *out) {
    const struct alloc_state *v = state;
    const struct snapshot *s = &v->alloc.tree;
    uint32_t node = tree_list_node_at(&v->list, s, row);
    char name[1024];
    for (uint32_t i = 0; node != SNAPSHOT_ROOT && i <= node;) {
        if (node >= s->nodes[i].next) {
            i = s->nodes[i].next;
            continue;
        }
        if (v->alloc.extra[i].via != METHOD_NONE)
            text_addf(out, "%s\n", node_name(m, v->alloc.extra[i].via, name, sizeof name));
        text_addf(out, "%s\n", node_name(m, s->nodes[i].method, name, sizeof name));
        i++;
    }
}

const struct view_type view_alloc = {
    .title = "alloc",
    .name = "alloc",
    .key = '6',
    .scope = SCOPE_ALLOC,
    .event = WIRE_EVENT_ALLOC,
    .open = open_alloc,
    .close = close_alloc,
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
    .tag = tag,
    .tagged = tagged,
    .tagged_of = "of bytes",
};
