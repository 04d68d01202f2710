/*
 * The flame graph view: all stacks as a picture, with the roots at the bottom; or bottom-up, as
 * icicles, with the leaves at the top and their callers below. The last row describes the frame at
 * the cursor or the mouse.
 */
#include "tui/model/flame.h"
#include "tui/view/flame_picture.h"
#include "tui/view/tree_nodes.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZOOMS 32     /* zooms within each other */
#define OUTER_ROWS 3 /* rows that stay on screen below a deep zoom */
#define WHEEL_ROWS 3
#define HEAD_ROWS 6     /* a view with fewer rows has no heads */
#define LEAST_UNITS 320 /* the command | draws wider than a narrow terminal */
#define PAPER_ROWS 300  /* more rows than any screen: the picture takes what it needs */

struct flame_state {
    struct flame flame;
    struct tree_matches matches;
    uint64_t matched;      /* weight of samples with a match */
    struct flame_path way; /* path of the cursor; may go on to where it came from */
    uint32_t at;           /* the cursor's depth on that path */
    uint32_t box;          /* the cursor's box, or the nearest one on its path */
    uint64_t hover;        /* identity of the frame under the mouse */
    bool hovers;           /* the mouse is on a frame */
    struct flame_path zoom;
    uint32_t level[ZOOMS], levels; /* depths zoomed into, each on the path to the next */
    uint32_t root;                 /* method of the root below the zoom; METHOD_NONE: no zoom */
    uint64_t seed;
    uint32_t units, page; /* as last drawn; 0: never drawn */
    uint32_t top;         /* depth of the first row shown */
    uint32_t seek;        /* method to go to; METHOD_NONE: none */
    struct area area;     /* of the picture */
};

static void *open_flame(const struct model *m) {
    (void)m;
    struct flame_state *v = calloc(1, sizeof *v);
    if (v) {
        v->seek = v->root = METHOD_NONE;
        v->box = FLAME_NONE;
    }
    return v;
}

static void close_flame(void *state) {
    struct flame_state *v = state;
    if (!v)
        return;
    flame_free(&v->flame);
    tree_matches_free(&v->matches);
    flame_path_free(&v->way);
    flame_path_free(&v->zoom);
    free(v);
}

static void want(void *state, struct model_question *q) {
    const struct flame_state *v = state;
    q->tree = true;
    q->from_method = q->with_method;
    /* Roots that are too narrow to be seen need nothing on them. */
    q->close_roots = v->seek == METHOD_NONE;
    q->open_ppm = 1000000 / (2 * (v->units > LEAST_UNITS ? v->units : LEAST_UNITS)) + 1;
    q->open_roots = v->root != METHOD_NONE;
    q->open_root[0] = v->root;
}

/* Scrolls so that the cursor's row is on screen, and the screen is as full as possible. */
static void scroll(struct flame_state *v) {
    uint32_t last = v->flame.rows > v->page ? v->flame.rows - v->page : 0;
    if (v->top > last)
        v->top = last;
    uint32_t depth = v->box == FLAME_NONE ? 0 : v->flame.box[v->box].depth;
    if (depth < v->top)
        v->top = depth;
    if (depth >= v->top + v->page)
        v->top = depth - v->page + 1;
}

/* Makes a new layout, and finds the cursor's frame in it. */
static void lay_out(struct flame_state *v, const struct model *m) {
    if (!v->units || !v->page || !m->snapshot)
        return;
    if (v->at >= v->top + v->page)
        v->top = v->at - v->page + 1;
    struct flame_ask ask = {
        .snapshot = m->snapshot,
        .seed = v->seed,
        .zoom = &v->zoom,
        .units = v->units,
        .rows = v->top + v->page + 1,
        .order = tree_name_order,
        .arg = m,
    };
    (void)flame_layout(&v->flame, &ask); /* no memory: the part that was laid out is shown */
    v->box = FLAME_NONE;
    for (uint32_t depth = v->at; depth && v->box == FLAME_NONE; depth--)
        v->box = flame_find(&v->flame, v->way.step[depth - 1]);
    if (v->box == FLAME_NONE && v->flame.count)
        v->box = 0;
    bool zoomed = v->flame.zoom_depth && v->flame.rows > 1;
    uint32_t root = zoomed ? v->flame.box[v->flame.row[1]].node : SNAPSHOT_ROOT;
    v->root = root == SNAPSHOT_ROOT ? METHOD_NONE : m->snapshot->nodes[root].method;
    scroll(v);
}

static void select_node(struct flame_state *v, const struct model *m, uint32_t node) {
    (void)flame_path_to_node(&v->way, m->snapshot, v->seed, node);
    v->at = v->way.count;
    v->hovers = false;
    lay_out(v, m);
}

static void select_box(struct flame_state *v, const struct model *m, uint32_t box) {
    const struct flame_box *b = &v->flame.box[box];
    v->hovers = false;
    /* If the frame is on the current path, the path is kept. */
    if (b->depth > v->way.count || (b->depth && v->way.step[b->depth - 1] != b->path))
        (void)flame_path_to_box(&v->way, &v->flame, box);
    v->at = b->depth < v->way.count ? b->depth : v->way.count;
    lay_out(v, m);
}

/* Sets the zoom to the depth of the last level. */
static void set_zoom(struct flame_state *v, const struct model *m) {
    uint32_t depth = v->levels ? v->level[v->levels - 1] : 0;
    v->zoom.count = depth < v->zoom.count ? depth : v->zoom.count;
    v->top = depth + OUTER_ROWS > v->page && depth > OUTER_ROWS ? depth - OUTER_ROWS : 0;
    lay_out(v, m);
}

static enum view_outcome zoom_in(struct flame_state *v, const struct model *m) {
    if (v->box == FLAME_NONE || v->flame.box[v->box].rest)
        return VIEW_DONE;
    uint32_t depth = v->flame.box[v->box].depth;
    while (v->levels && v->level[v->levels - 1] >= depth)
        v->levels--;
    if (depth && v->levels < ZOOMS) {
        if (flame_path_to_box(&v->zoom, &v->flame, v->box))
            return VIEW_DONE;
        v->level[v->levels++] = depth;
    }
    set_zoom(v, m);
    return VIEW_DONE;
}

static enum view_outcome zoom_out(struct flame_state *v, const struct model *m) {
    if (!v->levels)
        return VIEW_IGNORED;
    v->levels--;
    set_zoom(v, m);
    return VIEW_DONE;
}

/* Starts with another tree, in which paths of the previous tree have no meaning. */
static void start(struct flame_state *v, uint64_t seed) {
    v->seed = seed;
    v->way.count = v->zoom.count = 0;
    v->at = v->top = v->levels = 0;
    v->hovers = false;
}

static void count_matches(struct flame_state *v, const struct model *m) {
    tree_matches_update(&v->matches, m);
    v->matched = tree_matches_weight(&v->matches, m->snapshot);
}

/* Goes to the method of a jump, out of every zoom. */
static void find_sought(struct flame_state *v, const struct model *m) {
    uint32_t node = v->seek == METHOD_NONE ? SNAPSHOT_ROOT : tree_hottest_of(m->snapshot, v->seek);
    v->seek = METHOD_NONE;
    if (node == SNAPSHOT_ROOT)
        return;
    v->levels = v->zoom.count = 0;
    select_node(v, m, node);
}

static void update(void *state, const struct model *m) {
    struct flame_state *v = state;
    if (v->seed != tree_seed(m))
        start(v, tree_seed(m));
    count_matches(v, m);
    lay_out(v, m);
    find_sought(v, m);
}

static void draw_heads(const struct flame_state *v, struct canvas *c, struct area a,
                       const struct model *m) {
    static const char *const what[] = {"FLAME GRAPH", "ICICLES: LEAVES AND WHO CALLS THEM",
                                       "FLAME GRAPH OF EACH THREAD", "ICICLES OF EACH THREAD"};
    const struct model_question *q = &m->asked;
    char heads[1400], name[1024];
    int n = snprintf(heads, sizeof heads, "  %s",
                     what[(q->inverted ? 1u : 0u) | (q->by_thread ? 2u : 0u)]);
    if (q->from_method)
        n += snprintf(heads + n, sizeof heads - (size_t)n, ", %s %s", q->inverted ? "TO" : "FROM",
                      model_method_name(m, q->method, name, sizeof name));
    if (m->diff)
        n += snprintf(heads + n, sizeof heads - (size_t)n, ": + MORE, - LESS THAN THE BASELINE");
    if (v->levels)
        snprintf(heads + n, sizeof heads - (size_t)n, "  (zoomed, Esc leaves)");
    view_heads(c, a, heads);
}

/* Draws from which depth on frames are shown, if not all fit. */
static void draw_more(const struct flame_state *v, struct canvas *c, struct area a) {
    char more[40];
    bool deeper = v->flame.rows > v->top + v->page;
    if (!deeper && !v->top)
        return;
    snprintf(more, sizeof more, " from depth %u%s ", v->top, deeper ? ", more follow" : "");
    canvas_right(c, a.row, a.col, a.cols, ROLE_COLUMNS, more);
}

static struct flame_picture picture_of(const struct flame_state *v, const struct model *m) {
    return (struct flame_picture){.flame = &v->flame,
                                  .matches = &v->matches,
                                  .cursor = v->box,
                                  .top = v->top,
                                  .from_above = m->asked.inverted};
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct flame_state *v = state;
    struct area picture = a, detail = a;
    bool heads = a.rows >= HEAD_ROWS;
    if (heads) {
        draw_heads(v, c, a, m);
        picture.row++;
        picture.rows--;
    }
    if (!m->snapshot || !m->snapshot->weight || a.cols < 1) {
        view_empty(c, a, m);
        return a.row;
    }
    if (picture.rows > 1)
        picture.rows--;
    if (a.rows > PAPER_ROWS && picture.rows > (int)m->snapshot->max_depth + 1)
        picture.rows = (int)m->snapshot->max_depth + 1;
    uint32_t units = (uint32_t)a.cols * flame_cell_units(c);
    if (v->units != units || v->page != (uint32_t)picture.rows || !v->flame.count) {
        v->units = units;
        v->page = (uint32_t)picture.rows;
        lay_out(v, m);
    }
    if (strcmp(v->matches.of, m->search) != 0)
        count_matches(v, m);
    v->area = picture;
    if (v->box == FLAME_NONE)
        return a.row;
    struct flame_picture p = picture_of(v, m);
    flame_picture_draw(c, picture, &p, m);
    if (heads)
        draw_more(v, c, a);
    detail.row = picture.row + picture.rows;
    if (detail.row < a.row + a.rows) {
        uint32_t under = v->hovers ? flame_find(&v->flame, v->hover) : FLAME_NONE;
        flame_picture_tell(c, detail, &p, under == FLAME_NONE ? v->box : under, v->matched, m);
    }
    return flame_picture_row(&p, picture, v->flame.box[v->box].depth);
}

/* Moves the cursor to the caller, or to a called frame: the one it came from, or else the
 * widest. */
static void climb(struct flame_state *v, const struct model *m, int by, uint32_t steps) {
    v->hovers = false;
    for (; steps; steps--) {
        const struct flame_box *b = &v->flame.box[v->box];
        uint32_t next = b->parent;
        if (by > 0) {
            bool known =
                b->depth < v->way.count && (!b->depth || v->way.step[b->depth - 1] == b->path);
            next = known ? flame_find(&v->flame, v->way.step[b->depth]) : FLAME_NONE;
            if (next == FLAME_NONE)
                next = flame_hottest_child(&v->flame, v->box);
        }
        if (next == FLAME_NONE)
            return;
        select_box(v, m, next);
    }
}

/* Follows the hottest path from a frame on, as far as it is visible. */
static void go_hottest(struct flame_state *v, const struct model *m, uint32_t node) {
    const struct snapshot *s = m->snapshot;
    for (;;) {
        uint32_t child = node == SNAPSHOT_ROOT ? 0 : snapshot_child(s, node);
        if (child == SNAPSHOT_ROOT || !flame_shows(&v->flame, s, child))
            break;
        node = child;
    }
    if (node != SNAPSHOT_ROOT)
        select_node(v, m, node);
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct flame_state *v = state;
    if (cmd == COMMAND_INVERT || cmd == COMMAND_BY_THREAD) {
        bool *flag = cmd == COMMAND_INVERT ? &m->question.inverted : &m->question.by_thread;
        *flag = !*flag;
        return VIEW_ASK;
    }
    if (cmd == COMMAND_BACK)
        return zoom_out(v, m);
    if (!m->snapshot || v->box == FLAME_NONE)
        return VIEW_IGNORED;
    int up = m->asked.inverted ? -1 : 1; /* the direction of called frames on screen */
    uint32_t page = v->page > 2 ? v->page - 1 : 1;
    switch (cmd) {
    case COMMAND_UP:
    case COMMAND_DOWN:
        climb(v, m, cmd == COMMAND_UP ? up : -up, 1);
        break;
    case COMMAND_PAGE_UP:
    case COMMAND_PAGE_DOWN:
        climb(v, m, cmd == COMMAND_PAGE_UP ? up : -up, page);
        break;
    case COMMAND_HALF_UP:
    case COMMAND_HALF_DOWN:
        climb(v, m, cmd == COMMAND_HALF_UP ? up : -up, (page + 1) / 2);
        break;
    case COMMAND_EXPAND:
    case COMMAND_COLLAPSE:
        select_box(v, m, flame_beside(&v->flame, v->box, cmd == COMMAND_EXPAND ? 1 : -1));
        break;
    case COMMAND_HOME:
        v->at = v->way.count = v->top = 0;
        select_box(v, m, v->flame.row[v->flame.zoom_depth]);
        break;
    case COMMAND_END:
        go_hottest(v, m, v->flame.box[v->flame.row[v->flame.zoom_depth]].node);
        break;
    case COMMAND_HOTTEST:
        go_hottest(v, m, v->flame.box[v->box].node);
        break;
    case COMMAND_ENTER:
        return zoom_in(v, m);
    default:
        return VIEW_IGNORED;
    }
    return VIEW_DONE;
}

static enum view_outcome hover(struct flame_state *v, uint32_t box) {
    bool hovers = box != FLAME_NONE;
    uint64_t path = hovers ? v->flame.box[box].path : 0;
    if (hovers == v->hovers && path == v->hover)
        return VIEW_IGNORED;
    v->hovers = hovers;
    v->hover = path;
    return VIEW_DONE;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    (void)a;
    struct flame_state *v = state;
    if (!m->snapshot || v->box == FLAME_NONE)
        return VIEW_IGNORED;
    struct flame_picture p = picture_of(v, m);
    uint32_t box = flame_picture_at(&p, v->area, press->row, press->col);
    int up = m->asked.inverted ? -1 : 1;
    switch (press->action) {
    case MOUSE_WHEEL_UP:
    case MOUSE_WHEEL_DOWN:
        climb(v, m, press->action == MOUSE_WHEEL_UP ? up : -up, WHEEL_ROWS);
        return VIEW_DONE;
    case MOUSE_MOVE:
        return hover(v, box);
    case MOUSE_DRAG:
    case MOUSE_RELEASE:
        return VIEW_IGNORED;
    case MOUSE_PRESS:
    case MOUSE_TWICE:
        break;
    }
    if (box == FLAME_NONE || v->flame.box[box].rest)
        return VIEW_IGNORED;
    select_box(v, m, box);
    return press->action == MOUSE_TWICE ? zoom_in(v, m) : VIEW_DONE;
}

/* Searches all visible frames, in the order of the call tree, hottest first. */
static bool find(void *state, int by, const struct model *m) {
    struct flame_state *v = state;
    const struct snapshot *s = m->snapshot;
    if (!s || v->box == FLAME_NONE)
        return false;
    count_matches(v, m);
    uint32_t zoom = v->flame.box[v->flame.row[v->flame.zoom_depth]].node;
    uint32_t from = zoom == SNAPSHOT_ROOT ? 0 : zoom;
    uint32_t count = (zoom == SNAPSHOT_ROOT ? s->node_count : s->nodes[zoom].next) - from;
    uint32_t now = v->flame.box[v->box].node;
    bool on_one = now != SNAPSHOT_ROOT && now >= from && now - from < count;
    uint32_t at = on_one ? now - from : by < 0 ? 0 : count - 1;
    for (uint32_t i = by ? 1 : on_one ? 0 : 1; i <= count; i++) {
        uint32_t node = from + (by < 0 ? (at + count - i % count) % count : (at + i) % count);
        if (tree_matches_has(&v->matches, s->nodes[node].method) &&
            flame_shows(&v->flame, s, node)) {
            select_node(v, m, node);
            return true;
        }
    }
    return false;
}

static bool subject(const void *state, const struct model *m, struct view_subject *out) {
    const struct flame_state *v = state;
    return v->box != FLAME_NONE && tree_subject(m, m->snapshot, v->flame.box[v->box].node, out);
}

static void seek(void *state, const struct view_subject *s) {
    struct flame_state *v = state;
    v->seek = s->method;
}

static void leave(const void *state, const struct model *m, struct view_place *out) {
    const struct flame_state *v = state;
    struct view_subject on = {.method = METHOD_NONE};
    (void)subject(v, m, &on);
    *out = (struct view_place){.of = v->seed, .method = on.method};
}

/* The same picture is as it was left. In another one, its frame is searched. */
static void come_back(void *state, const struct view_place *p) {
    struct flame_state *v = state;
    v->seek = v->seed == p->of ? METHOD_NONE : p->method;
}

static void copy(const void *state, const struct model *m, uint32_t row, struct text *out) {
    (void)row; /* the cursor's */
    const struct flame_state *v = state;
    if (v->box != FLAME_NONE)
        tree_copy(m, m->snapshot, v->flame.box[v->box].node, out);
}

const struct view_type view_flame = {
    .title = "flame",
    .name = "flame",
    .key = '5',
    .scope = SCOPE_FLAME,
    .event = -1,
    .hovers = true,
    .open = open_flame,
    .close = close_flame,
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
