#include "tui/view/table.h"

#include "tui/widget/row_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Layout: which columns of a table are on screen, and where. */

#define MARGIN 2        /* for the cursor's mark */
#define ASKED_LEAVES 12 /* what requested columns leave for the flexible ones */

/* A column that may come on screen. */
struct candidate {
    struct table_slot slot; /* cols < 0: no room */
    uint16_t from_cols;
    bool asked, taken;
};

struct candidates {
    struct candidate of[TABLE_SLOTS];
    int count;
};

static void add_slot(struct candidates *k, const struct table_column *column, int index, int event,
                     bool asked) {
    for (int i = 0; i < k->count; i++)
        if (k->of[i].slot.column == index && k->of[i].slot.event == event)
            return; /* requested twice */
    if (k->count == TABLE_SLOTS)
        return;
    k->of[k->count++] = (struct candidate){
        .slot = {.column = (uint8_t)index, .event = (int8_t)event, .cols = column->cols},
        .from_cols = column->from_cols,
        .asked = asked};
}

static void add_column(struct candidates *k, const struct table *t, const struct table_rows *r,
                       int index, bool asked) {
    const struct table_column *column = &t->type->column[index];
    int event[VIEW_OTHERS];
    if (t->type->has && !t->type->has(r->rows, index))
        return;
    if (!column->events) {
        add_slot(k, column, index, -1, asked);
        return;
    }
    int n = model_other_events(r->model, event, VIEW_OTHERS);
    for (int i = 0; i < n; i++)
        if (asked || !t->type->has_event || t->type->has_event(r->rows, event[i]))
            add_slot(k, column, index, event[i], asked);
}

static int find_column(const struct table_type *type, const char *name, size_t length) {
    for (int i = 0; type->column[i].name; i++)
        if (strlen(type->column[i].name) == length && !memcmp(type->column[i].name, name, length))
            return i;
    return -1;
}

bool table_has_column(const struct table_type *type, const char *name, size_t length) {
    return find_column(type, name, length) >= 0;
}

/* Adds the requested columns, and in any case a flexible one, which names the row. False if no
 * column is requested. */
static bool add_asked(struct candidates *k, const struct table *t, const struct table_rows *r) {
    bool any = false, flexible = false;
    int name = 0;
    for (const char *s = t->columns; *s;) {
        size_t length = strcspn(s, ", ");
        int i = length ? find_column(t->type, s, length) : -1;
        if (i >= 0) {
            add_column(k, t, r, i, true);
            any = true;
            flexible = flexible || t->type->column[i].share;
        }
        s += length + (s[length] != '\0');
    }
    while (!t->type->column[name].share)
        name++;
    if (any && !flexible)
        add_column(k, t, r, name, true);
    return any;
}

static bool is_wanted(const struct candidate *k, const struct table_column *column, int cols) {
    return k->asked || column->from_cols <= cols;
}

/* Takes the columns that fit. Returns the width left for the flexible columns. */
static int take(struct candidates *k, const struct table *t, int cols) {
    int room = cols - MARGIN + 1; /* the last column needs no blank behind it */
    for (int i = 0; i < k->count; i++) {
        struct candidate *one = &k->of[i];
        const struct table_column *column = &t->type->column[one->slot.column];
        one->taken = column->share > 0;
        if (one->taken && is_wanted(one, column, cols))
            room--;
        else if (one->taken)
            one->slot.cols = -1;
    }
    for (;;) {
        struct candidate *next = NULL;
        for (int i = 0; i < k->count; i++)
            if (!k->of[i].taken && (!next || k->of[i].from_cols < next->from_cols))
                next = &k->of[i];
        if (!next)
            return room;
        const struct table_column *column = &t->type->column[next->slot.column];
        next->taken = true;
        if (column->cols_wide && cols >= TABLE_WIDE)
            next->slot.cols = column->cols_wide;
        int left = room - next->slot.cols - 1;
        bool fits = left >= (next->asked ? ASKED_LEAVES : column->leaves);
        if (fits && is_wanted(next, column, cols))
            room = left;
        else
            next->slot.cols = -1;
    }
}

/* Divides the remaining width among flexible columns by their shares. If possible, each gets at
 * least its least width. */
static void share_room(struct table *t, int room) {
    int parts = 0, least = 0;
    for (int i = 0; i < t->slots; i++) {
        const struct table_column *column = &t->type->column[t->slot[i].column];
        parts += column->share;
        least += column->share ? column->cols : 0;
    }
    for (int i = 0; i < t->slots; i++) {
        struct table_slot *s = &t->slot[i];
        const struct table_column *column = &t->type->column[s->column];
        if (!column->share || !parts)
            continue;
        int cols = room * column->share / parts;
        parts -= column->share;
        least -= column->cols;
        if (cols < column->cols)
            cols = column->cols;
        if (parts && cols > room - least)
            cols = room - least;
        if (parts && column->most && cols > column->most)
            cols = column->most;
        if (!parts)
            cols = room;
        s->cols = (int16_t)(cols > 0 ? cols : 0);
        room -= s->cols;
    }
}

void table_lay_out(struct table *t, int cols, const struct table_rows *r) {
    struct candidates k = {.count = 0};
    if (!add_asked(&k, t, r))
        for (int i = 0; t->type->column[i].name; i++)
            if (t->type->column[i].from_cols != TABLE_NEVER)
                add_column(&k, t, r, i, false);
    int room = take(&k, t, cols);
    t->slots = 0;
    for (int i = 0; i < k.count; i++)
        if (k.of[i].slot.cols >= 0)
            t->slot[t->slots++] = k.of[i].slot;
    share_room(t, room);
    int x = MARGIN;
    for (int i = 0; i < t->slots; i++) {
        t->slot[i].x = (int16_t)x;
        x += t->slot[i].cols + 1;
    }
}

#define UNDRAWN_COLS 80 /* layout of a table that was never drawn */

/* The cursor moves over places, but the view identifies an item by its row. */
struct places {
    const struct table *table;
    const struct table_rows *rows;
};

void table_init(struct table *t, const struct table_type *type, const char *columns) {
    *t = (struct table){
        .type = type, .columns = columns ? columns : "", .sort = type->natural, .sort_event = -1};
}

void table_free(struct table *t) {
    free(t->order);
    t->order = NULL;
}

uint32_t table_row(const struct table *t, uint32_t place) {
    if (place >= t->count)
        return TABLE_NONE;
    return t->order ? t->order[place] : place;
}

uint32_t table_selected(const struct table *t) {
    return table_row(t, t->cursor.row);
}

static uint64_t place_item(const void *arg, uint32_t place) {
    const struct places *p = arg;
    return p->table->type->item(p->rows->rows, table_row(p->table, place));
}

static const char *place_text(const void *arg, uint32_t place, char *out, size_t size) {
    const struct places *p = arg;
    return p->table->type->text(p->rows->rows, table_row(p->table, place), out, size);
}

static struct cursor_rows cursor_rows(const struct places *p) {
    return (struct cursor_rows){.count = p->table->count, .item = place_item, .arg = p};
}

/* Returns the rows in sorted order. NULL: no memory. */
static uint32_t *make_order(const struct table *t, const struct table_rows *r) {
    const struct table_type *type = t->type;
    uint64_t flip = type->column[t->sort].ascending == !t->reversed ? 0 : UINT64_MAX;
    struct row_key *key = malloc(r->count * sizeof *key);
    uint32_t *order = malloc(r->count * sizeof *order);
    uint32_t *parent = type->parent ? malloc(r->count * sizeof *parent) : NULL;
    if (type->prepare)
        type->prepare(r->rows, t->sort);
    bool done = key && order && (parent || !type->parent);
    for (uint32_t i = 0; done && i < r->count; i++) {
        key[i].key = type->key(r->rows, t->sort, t->sort_event, i) ^ flip;
        key[i].row = i;
    }
    done = done && !row_order_sort(key, r->count);
    for (uint32_t i = 0; done && i < r->count; i++) {
        order[i] = key[i].row;
        if (parent)
            parent[i] = type->parent(r->rows, i);
    }
    done = done && (!parent || !row_order_nest(order, r->count, parent));
    if (!done) {
        free(order);
        order = NULL;
    }
    free(key);
    free(parent);
    return order;
}

void table_sort(struct table *t, const struct table_rows *r) {
    const struct places p = {.table = t, .rows = r};
    bool as_is = r->in_order && t->sort == t->type->natural && !t->reversed;
    free(t->order);
    t->count = r->count;
    t->order = as_is || r->count == 0 ? NULL : make_order(t, r);
    const struct cursor_rows rows = cursor_rows(&p);
    for (uint32_t i = 0; t->seeks && i < r->count; i++) {
        if (place_item(&p, i) == t->sought) {
            cursor_select(&t->cursor, i, &rows);
            t->seeks = false;
        }
    }
    cursor_follow(&t->cursor, &rows);
}

void table_seek(struct table *t, uint64_t item) {
    t->sought = item;
    t->seeks = true;
}

static void sort_by(struct table *t, int column, int event, const struct table_rows *r) {
    t->reversed = column == t->sort && event == t->sort_event && !t->reversed;
    t->sort = column;
    t->sort_event = event;
    table_sort(t, r);
}

/* Sorts by the next column on screen. */
static void sort_by_next(struct table *t, const struct table_rows *r) {
    if (!t->slots)
        table_lay_out(t, UNDRAWN_COLS, r);
    int at = -1;
    for (int i = 0; i < t->slots; i++)
        if (t->slot[i].column == t->sort && t->slot[i].event == t->sort_event)
            at = i;
    const struct table_slot *next = &t->slot[(at + 1) % t->slots];
    t->reversed = false;
    t->sort = -1;
    sort_by(t, next->column, next->event, r);
}

bool table_command(struct table *t, enum command command, const struct table_rows *r) {
    const struct places p = {.table = t, .rows = r};
    const struct cursor_rows rows = cursor_rows(&p);
    switch (command) {
    case COMMAND_SORT:
        sort_by_next(t, r);
        return true;
    case COMMAND_REVERSE:
        sort_by(t, t->sort, t->sort_event, r);
        return true;
    default:
        break;
    }
    if (!cursor_command(&t->cursor, command, &rows))
        return false;
    t->seeks = false;
    return true;
}

enum view_outcome table_mouse(struct table *t, struct area a, const struct mouse *press,
                              const struct table_rows *r) {
    const struct places p = {.table = t, .rows = r};
    const struct cursor_rows rows = cursor_rows(&p);
    bool enter;
    if (view_mouse_list(&t->cursor, a, 1, press, &rows, &enter)) {
        t->seeks = false;
        return enter ? VIEW_GO : VIEW_DONE;
    }
    if (press->row != a.row || (press->action != MOUSE_PRESS && press->action != MOUSE_TWICE))
        return VIEW_IGNORED;
    for (int i = 0; i < t->slots; i++) {
        const struct table_slot *s = &t->slot[i];
        int col = press->col - a.col - s->x;
        if (col >= 0 && col <= s->cols) {
            sort_by(t, s->column, s->event, r);
            return VIEW_DONE;
        }
    }
    return VIEW_IGNORED;
}

bool table_find(struct table *t, int by, const struct table_rows *r) {
    const struct places p = {.table = t, .rows = r};
    const struct cursor_rows rows = cursor_rows(&p);
    return view_find_row(&t->cursor, &rows, by, r->model, place_text, &p);
}

/* Writes the head of a column on screen into `out`, if it is one that changes. */
static const char *head_of(const struct table *t, const struct table_rows *r,
                           const struct canvas *c, const struct table_slot *s, char *out,
                           size_t size) {
    const struct table_column *column = &t->type->column[s->column];
    return column->head ? column->head : t->type->title(r->rows, s->column, s->event, c, out, size);
}

bool table_column(const struct table *t, const struct table_rows *r, const struct canvas *c,
                  int column, char head[32], bool *on) {
    char text[32];
    if (column < 0 || column >= t->slots)
        return false;
    const struct table_slot *s = &t->slot[column];
    snprintf(head, 32, "%s", head_of(t, r, c, s, text, sizeof text));
    *on = s->column == t->sort && s->event == t->sort_event;
    return true;
}

bool table_sort_by(struct table *t, const struct table_rows *r, int column) {
    if (column < 0 || column >= t->slots)
        return false;
    const struct table_slot s = t->slot[column];
    if (s.column != t->sort || s.event != t->sort_event)
        sort_by(t, s.column, s.event, r);
    return true;
}

/* Draws a head. The sorted column has a mark behind its text, if needed in the blank between two
 * columns. */
static void draw_head(const struct table *t, struct canvas *c, struct area a,
                      const struct table_rows *r, const struct table_slot *s) {
    static const char *const mark[2][2] = {{"▾", "▴"}, {"v", "^"}};
    const struct table_column *column = &t->type->column[s->column];
    char text[32];
    const char *head = head_of(t, r, c, s, text, sizeof text);
    int end = s->x + s->cols;
    if (column->left)
        end = s->x + canvas_text(c, a.row, a.col + s->x, s->cols, ROLE_COLUMNS, head);
    else
        canvas_right(c, a.row, a.col + s->x, s->cols, ROLE_COLUMNS, head);
    bool up = column->ascending == !t->reversed;
    if (s->column == t->sort && s->event == t->sort_event && end < a.cols)
        canvas_text(c, a.row, a.col + end, 1, ROLE_COLUMNS,
                    mark[c->ascii_lines || c->ascii_text][up]);
}

/* Gives a blank between two cells of the same role that role too: each change of colour costs ten
 * bytes. */
static void join_cells(const struct table *t, struct canvas *c, struct area a, int y) {
    for (int i = 1; i < t->slots && y < c->rows; i++) {
        int x = a.col + t->slot[i].x - 1;
        if (x < 1 || x + 1 >= c->cols)
            continue;
        struct cell *cell = &c->cells[y * c->cols + x];
        if (cell[-1].role == cell[1].role)
            cell->role = cell[1].role;
    }
}

int table_draw(struct table *t, struct canvas *c, struct area a, const struct table_rows *r) {
    table_lay_out(t, a.cols, r);
    view_heads(c, a, "");
    for (int i = 0; i < t->slots; i++)
        draw_head(t, c, a, r, &t->slot[i]);
    uint32_t page = a.rows > 1 ? (uint32_t)a.rows - 1 : 0;
    cursor_fit(&t->cursor, t->count, page);
    if (t->count == 0) {
        view_empty(c, a, r->model);
        return a.row;
    }
    for (uint32_t i = 0; i < page && t->cursor.top + i < t->count; i++) {
        uint32_t row = table_row(t, t->cursor.top + i);
        int y = a.row + 1 + (int)i;
        for (int k = 0; k < t->slots; k++)
            t->type->draw(r->rows, c, y, a.col + t->slot[k].x, t->slot[k].cols, &t->slot[k], row);
        join_cells(t, c, a, y);
        view_tag_mark(c, a, y, r->model, (struct tag){t->type->tags, t->type->item(r->rows, row)});
    }
    int at = a.row + 1 + (int)(t->cursor.row - t->cursor.top);
    if (page)
        view_cursor_row(c, a, at);
    return at;
}

uint64_t table_key(double number) {
    uint64_t bits;
    if (number != number)
        return 0;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

uint64_t table_scale(uint64_t most) {
    static const unsigned step[] = {10, 15, 20, 30, 50, 70};
    for (uint64_t tenth = 1; most >= 10 && tenth < UINT64_MAX / 1000; tenth *= 10)
        for (int i = 0; i < 6; i++)
            if (tenth * step[i] >= most)
                return tenth * step[i];
    return most;
}
