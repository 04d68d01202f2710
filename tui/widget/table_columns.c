/* Which columns of a table are on screen, and where. */
#include "tui/widget/table.h"

#include <string.h>

#define MARGIN 2        /* of the cursor's mark */
#define ASKED_LEAVES 12 /* what columns that are asked for leave the flexible ones */

/* A column that may come on screen. */
struct candidate {
    struct table_slot slot; /* cols < 0: there is no room */
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
            return; /* asked for twice */
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

/* Those that are asked for, and what has the name of a row in any case. False where there are
 * none. */
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

/* Takes what there is room for; returns the columns left to the flexible ones. */
static int take(struct candidates *k, const struct table *t, int cols) {
    int room = cols - MARGIN + 1; /* the last one needs no blank behind it */
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

/* Flexible columns share what is left by their parts, none less than its least if it can be. */
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
