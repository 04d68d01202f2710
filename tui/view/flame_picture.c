#include "tui/view/flame_picture.h"

#include "tui/view/view.h"
#include "core/base/format.h"

#include <stdio.h>
#include <string.h>

#define NAME_CELLS_LEAST 3
#define LABEL_SIZE 1024

uint32_t flame_cell_units(const struct canvas *c) {
    return c->ascii_lines || c->ascii_text ? 1 : 2;
}

int flame_picture_row(const struct flame_picture *p, struct area a, uint32_t depth) {
    int up = (int)(depth - p->top);
    return p->from_above ? a.row + up : a.row + a.rows - 1 - up;
}

uint32_t flame_picture_at(const struct flame_picture *p, struct area a, int row, int col) {
    int y = p->from_above ? row - a.row : a.row + a.rows - 1 - row, x = col - a.col;
    if (y < 0 || y >= a.rows || x < 0 || x >= a.cols || !a.cols)
        return FLAME_NONE;
    uint32_t units = p->flame->units / (uint32_t)a.cols, depth = p->top + (uint32_t)y;
    uint32_t left = flame_at(p->flame, depth, (uint32_t)x * units);
    return left != FLAME_NONE ? left : flame_at(p->flame, depth, (uint32_t)x * units + units - 1);
}

static enum role frame_role(const struct method *method, const struct snapshot_node *n) {
    static const uint8_t by_kind[METHOD_KINDS] = {
        [METHOD_JAVA] = ROLE_FLAME_JAVA,        [METHOD_NATIVE] = ROLE_FLAME_NATIVE,
        [METHOD_CPP] = ROLE_FLAME_CPP,          [METHOD_KERNEL] = ROLE_FLAME_KERNEL,
        [METHOD_CLASS] = ROLE_FLAME_INLINED,    [METHOD_STUB] = ROLE_FLAME_NATIVE,
        [METHOD_ERROR] = ROLE_FLAME_ERROR,      [METHOD_THREAD] = ROLE_FLAME_OTHER,
        [METHOD_COMPILING] = ROLE_FLAME_NATIVE,
    };
    static const uint8_t by_tier[TIERS] = {ROLE_FLAME_JAVA, ROLE_FLAME_INTERPRETED, ROLE_FLAME_C1,
                                           ROLE_FLAME_JAVA, ROLE_FLAME_INLINED};
    if (method->kind == METHOD_JAVA)
        return by_tier[snapshot_main_tier(n->tier)];
    return method->kind < METHOD_KINDS ? by_kind[method->kind] : ROLE_FLAME_OTHER;
}

static enum role box_role(const struct flame_picture *p, uint32_t box, const struct model *m) {
    const struct flame_box *b = &p->flame->box[box];
    if (box == p->cursor)
        return ROLE_FLAME_CURSOR;
    if (b->rest || b->node == SNAPSHOT_ROOT)
        return ROLE_FLAME_OTHER;
    const struct snapshot_node *n = &m->snapshot->nodes[b->node];
    if (tree_matches_has(p->matches, n->method))
        return ROLE_FLAME_MATCH;
    if (b->outer)
        return ROLE_FLAME_OTHER;
    if (m->diff) {
        struct diff_change change = diff_node(m->diff, b->node);
        return change.chance        ? ROLE_FLAME_SAME
               : change.percent > 0 ? ROLE_FLAME_MORE
               : change.percent < 0 ? ROLE_FLAME_LESS
                                    : ROLE_FLAME_SAME;
    }
    return frame_role(model_method(m, n->method), n);
}

/* Draws the difference to the baseline if it is more than chance. If there is little room, only its
 * sign is drawn. */
static int draw_sign(struct canvas *c, int y, int x, int cols, enum role role,
                     const struct flame_box *b, const struct model *m) {
    struct diff_change change = {0};
    if (m->diff && b->node != SNAPSHOT_ROOT && !b->rest)
        change = diff_node(m->diff, b->node);
    if (change.chance || (change.percent > -0.05 && change.percent < 0.05))
        return 0;
    char sign[24];
    snprintf(sign, sizeof sign, "%+.1f ", change.percent);
    return canvas_text(c, y, x, cols > 9 ? cols : 1, role, sign);
}

static void draw_label(struct canvas *c, int y, int x, int cols, enum role role,
                       const struct flame_picture *p, uint32_t box, const struct model *m) {
    const struct flame_box *b = &p->flame->box[box];
    char name[LABEL_SIZE];
    int used = 0;
    if (box == p->cursor && cols > 0)
        used += canvas_text(c, y, x, cols, role, ">");
    used += draw_sign(c, y, x + used, cols - used, role, b, m);
    x += used;
    cols -= used;
    if (cols < NAME_CELLS_LEAST)
        return;
    if (b->node == SNAPSHOT_ROOT || b->rest) {
        canvas_text(c, y, x, cols, role, b->rest ? canvas_glyph(c, GLYPH_ELLIPSIS) : "all");
        return;
    }
    uint32_t id = m->snapshot->nodes[b->node].method;
    enum method_kind kind = model_method(m, id)->kind;
    model_method_name(m, id, name, sizeof name);
    if (kind == METHOD_THREAD)
        canvas_middle(c, y, x, cols, role, name);
    else
        canvas_head(c, y, x, cols, role, tree_short_name(c, name, kind, cols));
}

static void fill(struct canvas *c, int y, int from, int to, enum role role) {
    for (int x = from; x < to; x++)
        canvas_text(c, y, x, 1, role, " ");
}

static void draw_wide_box(struct canvas *c, int y, int left, enum role role, uint32_t box,
                          const struct flame_picture *p, const struct model *m) {
    const struct flame_box *b = &p->flame->box[box];
    int from = left + (int)b->from, to = left + (int)b->to;
    fill(c, y, from, to - 1, role);
    draw_label(c, y, from, to - 1 - from, role, p, box, m);
    canvas_text(c, y, to - 1, 1, role, box == p->cursor && to - from == 1 ? ">" : "|");
}

/* Draws a frame in half cells; the last one is its border. A cell can have only two colours, those
 * of one role. So a border in the left half of a cell is drawn with the frame to its right. A frame
 * that is only one left half takes the right half from the next frame. */
static void draw_half_box(struct canvas *c, int y, int left, enum role role, uint32_t box,
                          const struct flame_picture *p, const struct model *m) {
    const struct flame *f = p->flame;
    const struct flame_box *b = &f->box[box];
    uint32_t first = f->row[b->depth], last = f->row[b->depth + 1] - 1;
    int from = left + (int)(b->from + 1) / 2, to = left + (int)b->to / 2;
    bool taken = box > first && f->box[box - 1].to == b->from &&
                 f->box[box - 1].from + 1 == b->from && !(f->box[box - 1].from & 1);
    if (b->from & 1 && !taken)
        canvas_text(c, y, from - 1, 1, role, "\u258c");
    int whole = to;
    if (b->to & 1) { /* the next frame draws it, unless there is none, or this frame has no other
                        cell */
        bool followed = box < last && f->box[box + 1].from == b->to;
        if (!followed || from >= to)
            canvas_text(c, y, to, 1, role, "\u2590");
    } else if (from < to && (box != p->cursor || from + 1 < to)) {
        canvas_text(c, y, to - 1, 1, role, "\u2590");
        whole--;
    }
    if (box == p->cursor && from >= to) /* the frame has no whole cell */
        canvas_text(c, y, left + (int)b->from / 2, 1, role, ">");
    fill(c, y, from, whole, role);
    draw_label(c, y, from, whole - from, role, p, box, m);
}

void flame_picture_draw(struct canvas *c, struct area a, const struct flame_picture *p,
                        const struct model *m) {
    const struct flame *f = p->flame;
    for (uint32_t depth = p->top; depth < f->rows && depth - p->top < (uint32_t)a.rows; depth++) {
        int y = flame_picture_row(p, a, depth);
        for (uint32_t i = f->row[depth]; i < f->row[depth + 1]; i++) {
            enum role role = box_role(p, i, m);
            if (flame_cell_units(c) == 1)
                draw_wide_box(c, y, a.col, role, i, p, m);
            else
                draw_half_box(c, y, a.col, role, i, p, m);
        }
    }
}

static const char *box_name(const struct flame_box *b, const struct model *m, char *out,
                            size_t size) {
    if (b->rest)
        return "(frames too narrow to be shown)";
    if (b->node == SNAPSHOT_ROOT)
        return "all";
    return model_method_name(m, m->snapshot->nodes[b->node].method, out, size);
}

/* Draws total and self, samples or weight, and change, as in a row of the call tree. Returns the
 * column behind them. */
static int tell_figures(struct canvas *c, struct area a, const struct flame_box *b,
                        const struct snapshot_node *n, const struct model *m) {
    const uint64_t weight = m->snapshot->weight;
    int y = a.row, x = a.col, end = a.col + a.cols;
    struct format f = {""};
    x += canvas_textf(c, y, x, end - x, ROLE_VALUE, "%s%% ",
                      format_percent(&f, percent_of(b->total, weight)));
    if (!n)
        return x;
    if (a.cols >= VIEW_NARROW_COLS && !m->asked.inverted)
        x += canvas_textf(c, y, x, end - x, ROLE_TEXT, "self %s%% ",
                          format_percent(&f, percent_of(n->self, weight)));
    if (a.cols >= VIEW_NARROW_COLS) {
        view_weight(c, y, x, 7, m, n->total, n->total_samples);
        x += 8;
    }
    if (m->diff) {
        struct diff_change change = diff_node(m->diff, b->node);
        view_change(c, y, x, 7, &change);
        x += 8;
    }
    return x;
}

void flame_picture_tell(struct canvas *c, struct area a, const struct flame_picture *p,
                        uint32_t box, uint64_t matched, const struct model *m) {
    const struct flame_box *b = &p->flame->box[box];
    const struct snapshot *s = m->snapshot;
    const struct snapshot_node *n = b->rest || b->node == SNAPSHOT_ROOT ? NULL : &s->nodes[b->node];
    int x = tell_figures(c, a, b, n, m), end = a.col + a.cols;
    struct format f = {""};
    char name[LABEL_SIZE];
    if (m->search[0]) {
        snprintf(name, sizeof name, "matched %s%%",
                 format_percent(&f, percent_of(matched, s->weight)));
        end -= (int)strlen(name);
        canvas_text(c, a.row, end, a.cols, ROLE_MATCH, name);
        end -= 2;
    }
    enum method_kind kind = n ? model_method(m, n->method)->kind : METHOD_THREAD;
    enum role role = n ? view_frame_role(kind, snapshot_main_tier(n->tier)) : ROLE_TEXT;
    view_name(c, a.row, x, end - x, role, box_name(b, m, name, sizeof name), kind, m);
}
