/*
 * The methods view: which code takes the time, hottest first.
 */
#include "tui/view/name_order.h"
#include "tui/view/table.h"
#include "core/base/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SELF,
    ERROR,
    SELF_CHANGE,
    TOTAL,
    TOTAL_CHANGE,
    WEIGHT,
    COUNT,
    TIER,
    KIND,
    TIERS_PART,
    SPARK,
    OTHER,
    NAME
};

/* At 80 columns, the columns of other events leave 28 for the names. More detailed columns come on
 * wider screens. */
static const struct table_column columns[] = {
    [SELF] = {.name = "self", .head = "SELF%", .cols = 5},
    [ERROR] = {.name = "error", .cols = 5, .from_cols = 60},
    [SELF_CHANGE] = {.name = "delta", .head = "CHANGE", .cols = 7, .leaves = 14},
    [TOTAL] = {.name = "total", .head = "TOTAL%", .cols = 6},
    [TOTAL_CHANGE] =
        {.name = "total-delta", .head = "CHANGE", .cols = 7, .from_cols = 100, .leaves = 28},
    [WEIGHT] = {.name = "weight", .cols = 7, .from_cols = 60},
    [COUNT] = {.name = "samples", .head = "SAMPLES", .cols = 7, .from_cols = 120, .leaves = 40},
    [TIER] = {.name = "tier", .head = "T", .cols = 1, .from_cols = 60, .left = true},
    [KIND] = {.name = "kind",
              .head = "KIND",
              .cols = 6,
              .from_cols = 60,
              .left = true,
              .ascending = true},
    [TIERS_PART] = {.name = "tiers",
                    .head = "RUN AS",
                    .cols = 12,
                    .from_cols = 140,
                    .leaves = 60,
                    .left = true},
    [SPARK] = {.name = "spark",
               .head = "LAST MINUTE",
               .cols = MODEL_SPARKS,
               .from_cols = 100,
               .leaves = 28,
               .left = true},
    [OTHER] = {.name = "events",
               .cols = VIEW_OTHER_COLS - 1,
               .from_cols = 60,
               .leaves = 28,
               .events = true},
    [NAME] =
        {.name = "name", .head = "METHOD", .cols = 12, .share = 1, .left = true, .ascending = true},
    {0},
};

struct methods_state {
    struct table table;
    struct name_order names; /* made when the user first sorts by name */
    unsigned generation;     /* of the answer that is sorted; 0: none */
    uint64_t spark_most;     /* of that answer */
    const struct model *model;
};

static const struct snapshot_method *row_of(const struct methods_state *v, uint32_t row) {
    return &v->model->snapshot->methods[row];
}

static struct table_rows rows_of(struct methods_state *v) {
    const struct model *m = v->model;
    return (struct table_rows){.rows = v,
                               .count = m->snapshot ? m->snapshot->method_count : 0,
                               .in_order = true,
                               .model = m};
}

static bool has(const void *rows, int column) {
    const struct model *m = ((const struct methods_state *)rows)->model;
    switch (column) {
    case SELF_CHANGE:
    case TOTAL_CHANGE:
        return m->diff != NULL;
    case SPARK:
        return m->snapshot && m->snapshot->method_spark;
    case COUNT: /* CPU time is already shown as samples */
        return m->asked.event != WIRE_EVENT_CPU;
    default:
        return true;
    }
}

static const char *title(const void *rows, int column, int event, const struct canvas *c, char *out,
                         size_t size) {
    const struct model *m = ((const struct methods_state *)rows)->model;
    if (column == ERROR)
        return canvas_glyph(c, GLYPH_PLUS_MINUS);
    if (column == WEIGHT)
        return view_weight_head(m);
    snprintf(out, size, "%.5s%%", model_event_name(m, event));
    return out;
}

static const uint64_t *spark_of(const struct methods_state *v, uint32_t row) {
    const uint64_t *cells = v->model->snapshot->method_spark;
    return cells ? &cells[(size_t)row * MODEL_SPARKS] : NULL;
}

static void prepare(void *rows, int column) {
    struct methods_state *v = rows;
    if (column == NAME)
        (void)name_order_update(&v->names, v->model); /* no memory: new methods come last */
}

static uint64_t key(const void *rows, int column, int event, uint32_t row) {
    const struct methods_state *v = rows;
    const struct model *m = v->model;
    const struct snapshot_method *r = row_of(v, row);
    const uint64_t *spark = spark_of(v, row);
    switch (column) {
    case ERROR: /* same order as by its square root */
        return table_key((double)r->self_samples *
                         (double)(m->snapshot->samples - r->self_samples));
    case SELF_CHANGE:
        return m->diff ? table_key(diff_method_self(m->diff, row).percent) : 0;
    case TOTAL:
        return r->total;
    case TOTAL_CHANGE:
        return m->diff ? table_key(diff_method_total(m->diff, row).percent) : 0;
    case COUNT:
        return r->self_samples;
    case TIER:
        return snapshot_main_tier(r->tier);
    case KIND:
        return model_method(m, r->method)->kind;
    case TIERS_PART:
        return table_key(
            percent_of(r->tier[TIER_INTERPRETED] + r->tier[TIER_C1], r->total_samples));
    case SPARK:
        return spark ? spark[MODEL_SPARKS - 1] : 0;
    case OTHER:
        return table_key(model_method_share(m, event, r->method));
    case NAME:
        return name_order_rank(&v->names, r->method);
    default: /* SELF, WEIGHT */
        return r->self;
    }
}

/* Draws the shares of a method's samples by tier, largest first, as far as there is room: "2 93 I
 * 5". Nothing if all are of one tier, which has its letter. */
static void draw_tiers(struct canvas *c, int y, int x, int cols, const struct snapshot_method *r) {
    uint64_t left[TIERS];
    char text[64] = "";
    int length = 0;
    memcpy(left, r->tier, sizeof left);
    for (;;) {
        int most = 0, n;
        for (int i = 1; i < TIERS; i++)
            most = left[i] > left[most] || !most ? i : most;
        double percent = percent_of(left[most], r->total_samples);
        if (percent < 0.5 || (!length && percent >= 99.5))
            break;
        n = snprintf(text + length, sizeof text - (size_t)length, "%s%c %.0f", length ? " " : "",
                     view_tier_letter((enum frame_tier)most), percent);
        if (length + n > cols)
            break;
        length += n;
        left[most] = 0;
    }
    text[length] = '\0';
    canvas_text(c, y, x, cols, ROLE_DIM, text);
}

static void draw_name(struct canvas *c, int y, int x, int cols, const struct model *m,
                      const struct snapshot_method *r) {
    enum method_kind kind = model_method(m, r->method)->kind;
    char name[1024];
    view_name(c, y, x, cols, view_frame_role(kind, snapshot_main_tier(r->tier)),
              model_method_name(m, r->method, name, sizeof name), kind, m);
}

static void draw_change(struct canvas *c, int y, int x, int cols, struct diff_change change) {
    view_change(c, y, x, cols, &change);
}

static void draw_cell(const void *rows, struct canvas *c, int y, int x, int cols,
                      const struct table_slot *slot, uint32_t row) {
    const struct methods_state *v = rows;
    const struct model *m = v->model;
    const struct snapshot_method *r = row_of(v, row);
    enum method_kind kind = model_method(m, r->method)->kind;
    struct format f = {""};
    switch (slot->column) {
    case SELF:
        view_percent(c, y, x, cols, percent_of(r->self, m->snapshot->weight));
        break;
    case ERROR:
        if (r->self_samples)
            canvas_textf(c, y, x, cols, ROLE_DIM, "%s%*s", canvas_glyph(c, GLYPH_PLUS_MINUS),
                         5 - canvas_width(c, canvas_glyph(c, GLYPH_PLUS_MINUS)),
                         format_percent(&f, percent_error(r->self_samples, m->snapshot->samples)));
        break;
    case SELF_CHANGE:
        draw_change(c, y, x, cols, diff_method_self(m->diff, row));
        break;
    case TOTAL:
        view_percent(c, y, x, cols, percent_of(r->total, m->snapshot->weight));
        break;
    case TOTAL_CHANGE:
        draw_change(c, y, x, cols, diff_method_total(m->diff, row));
        break;
    case WEIGHT:
        view_weight(c, y, x, cols, m, r->self, r->self_samples);
        break;
    case COUNT:
        canvas_right(c, y, x, cols, ROLE_NUMBER, format_short_count(&f, r->self_samples));
        break;
    case TIER:
        canvas_textf(c, y, x, cols, ROLE_DIM, "%c",
                     kind == METHOD_JAVA ? view_tier_letter(snapshot_main_tier(r->tier)) : ' ');
        break;
    case KIND:
        canvas_textf(c, y, x, cols, ROLE_DIM, "%s", view_kind_word(kind));
        break;
    case TIERS_PART:
        if (kind == METHOD_JAVA)
            draw_tiers(c, y, x, cols, r);
        break;
    case SPARK:
        view_spark(c, y, x, m, spark_of(v, row), v->spark_most);
        break;
    case OTHER:
        view_other_share(c, y, x, model_method_share(m, slot->event, r->method));
        break;
    default:
        draw_name(c, y, x, cols, m, r);
        break;
    }
}

static uint64_t item(const void *rows, uint32_t row) {
    return row_of(rows, row)->method;
}

static const char *text(const void *rows, uint32_t row, char *out, size_t size) {
    const struct methods_state *v = rows;
    return model_method_name(v->model, row_of(v, row)->method, out, size);
}

const struct table_type methods_table = {
    .column = columns,
    .natural = SELF,
    .has = has,
    .title = title,
    .prepare = prepare,
    .key = key,
    .draw = draw_cell,
    .item = item,
    .tags = TAG_METHOD,
    .text = text,
};

/* Returns the highest cell of all rows. Rows are sorted by self, and no cell is larger than its
 * row's. */
static uint64_t highest_cell(const struct snapshot *s) {
    uint64_t most = 0;
    for (uint32_t i = 0; s->method_spark && i < s->method_count; i++) {
        if (s->methods[i].self <= most)
            break;
        for (uint32_t k = 0; k < MODEL_SPARKS; k++) {
            uint64_t cell = s->method_spark[(size_t)i * MODEL_SPARKS + k];
            most = cell > most ? cell : most;
        }
    }
    return most;
}

/* Sorts the rows of a new answer. All functions below call this first. */
static void look(struct methods_state *v, const struct model *m) {
    v->model = m;
    if (v->generation == m->generation)
        return;
    v->generation = m->generation;
    v->spark_most = m->snapshot ? table_scale(highest_cell(m->snapshot)) : 0;
    const struct table_rows rows = rows_of(v);
    table_sort(&v->table, &rows);
}

static void *open_methods(const struct model *m) {
    struct methods_state *v = calloc(1, sizeof *v);
    if (v)
        table_init(&v->table, &methods_table, m->settings.method_columns);
    return v;
}

static void close_methods(void *state) {
    struct methods_state *v = state;
    if (!v)
        return;
    table_free(&v->table);
    name_order_free(&v->names);
    free(v);
}

static void want(void *state, struct model_question *q) {
    (void)state;
    q->others = q->sparks = true;
}

static void update(void *state, const struct model *m) {
    look(state, m);
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct methods_state *v = state;
    look(v, m);
    const struct table_rows rows = rows_of(v);
    return table_draw(&v->table, c, a, &rows);
}

/* Returns the method of a row on screen. METHOD_NONE: there is no such row. */
static uint32_t method_at(const struct methods_state *v, const struct model *m, uint32_t at) {
    uint32_t row = table_row(&v->table, at == VIEW_CURSOR ? v->table.cursor.row : at);
    bool there = m->snapshot && row < m->snapshot->method_count;
    return there ? m->snapshot->methods[row].method : METHOD_NONE;
}

static uint32_t selected(const struct methods_state *v, const struct model *m) {
    return method_at(v, m, VIEW_CURSOR);
}

static enum view_outcome enter(const struct methods_state *v, struct model *m) {
    uint32_t method = selected(v, m);
    if (method == METHOD_NONE)
        return VIEW_IGNORED;
    model_narrow_method(m, method);
    m->question.inverted = true; /* for a hot method, the user wants to see its callers */
    return view_go(LIVE_TREE);
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct methods_state *v = state;
    look(v, m);
    if (cmd == COMMAND_ENTER)
        return enter(v, m);
    const struct table_rows rows = rows_of(v);
    return table_command(&v->table, cmd, &rows) ? VIEW_DONE : VIEW_IGNORED;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    struct methods_state *v = state;
    look(v, m);
    const struct table_rows rows = rows_of(v);
    enum view_outcome outcome = table_mouse(&v->table, a, press, &rows);
    if (outcome == VIEW_GO)
        return enter(v, m);
    return outcome;
}

static bool column(void *state, const struct model *m, const struct canvas *c, int at,
                   char head[32], bool *on) {
    struct methods_state *v = state;
    look(v, m);
    const struct table_rows rows = rows_of(v);
    return table_column(&v->table, &rows, c, at, head, on);
}

static bool sort(void *state, const struct model *m, int at) {
    struct methods_state *v = state;
    look(v, m);
    const struct table_rows rows = rows_of(v);
    return table_sort_by(&v->table, &rows, at);
}

static bool find(void *state, int by, const struct model *m) {
    struct methods_state *v = state;
    look(v, m);
    const struct table_rows rows = rows_of(v);
    return table_find(&v->table, by, &rows);
}

static bool subject(const void *state, const struct model *m, struct view_subject *out) {
    *out = (struct view_subject){.method = selected(state, m)};
    return out->method != METHOD_NONE;
}

static void seek(void *state, const struct view_subject *s) {
    struct methods_state *v = state;
    if (s->method == METHOD_NONE)
        return;
    table_seek(&v->table, s->method);
    v->generation = 0; /* so that the current answer is searched too */
}

static void leave(const void *state, const struct model *m, struct view_place *out) {
    const struct methods_state *v = state;
    (void)m;
    *out = (struct view_place){.cursor = v->table.cursor, .method = METHOD_NONE};
}

static void come_back(void *state, const struct view_place *p) {
    struct methods_state *v = state;
    v->table.cursor = p->cursor;
    v->table.seeks = false;
    v->generation = 0; /* so that the cursor's item is searched in the next answer */
}

static bool tag(const void *state, const struct model *m, uint32_t row, struct tag *out) {
    uint32_t method = method_at(state, m, row);
    *out = (struct tag){TAG_METHOD, method};
    return method != METHOD_NONE;
}

static void tagged(const void *state, const struct model *m, struct tag_sum *out) {
    (void)state;
    model_tagged_methods(m, out);
}

static void copy(const void *state, const struct model *m, uint32_t row, struct text *out) {
    uint32_t method = method_at(state, m, row);
    char name[1024];
    if (method != METHOD_NONE)
        text_addf(out, "%s\n", model_method_name(m, method, name, sizeof name));
}

const struct view_type view_methods = {
    .title = "methods",
    .key = '1',
    .scope = SCOPE_METHODS,
    .name = "methods",
    .event = -1,
    .want = want,
    .open = open_methods,
    .close = close_methods,
    .update = update,
    .draw = draw,
    .command = command,
    .mouse = mouse,
    .find = find,
    .column = column,
    .sort = sort,
    .subject = subject,
    .seek = seek,
    .leave = leave,
    .come_back = come_back,
    .copy = copy,
    .tag = tag,
    .tagged = tagged,
    .tagged_of = "self",
};
