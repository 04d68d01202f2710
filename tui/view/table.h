/*
 * A table: rows that are sorted by a column, and as many columns as fit. The view defines the
 * columns and how a cell looks. Sort order, heads, cursor, mouse and search are the same for all
 * tables.
 *
 *   SELF%▾   ± TOTAL% SAMPLES T KIND   METHOD           heads, the sorted one marked
 *    31.0 ±2.9   31.0     310 i java   shop.Cart.total  a blank between columns
 *
 * Columns are added in the order of their `from_cols`, then as they are listed, as long as the
 * flexible columns keep the width that each column leaves them. A list of names ("self,total")
 * replaces the default choice; its order is the order on screen.
 *
 * A row is a number of the view, a place is a position on screen. Sorting is linear, by 64-bit
 * keys, once per answer. Equal rows keep the view's order.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_TABLE_H
#define JTOP_TUI_VIEW_TABLE_H

#include "tui/view/view.h"

#define TABLE_NONE UINT32_MAX
#define TABLE_SLOTS 24         /* columns on screen */
#define TABLE_NEVER UINT16_MAX /* from_cols: shown only if requested by name */

struct table_column {
    const char *name;   /* name in a config file: "self"; NULL ends the columns */
    const char *head;   /* NULL: the view's `title` returns it */
    uint8_t cols;       /* width; of a flexible column the least */
    uint8_t cols_wide;  /* width from TABLE_WIDE columns on; 0: the same */
    uint8_t share;      /* flexible: its share of the remaining width; 0: not flexible */
    uint8_t most;       /* flexible: largest width; 0: no limit */
    uint16_t from_cols; /* shown by default on screens at least this wide */
    uint8_t leaves;     /* shown only if flexible columns keep this width */
    bool left;          /* its head is left-aligned */
    bool ascending;     /* ascending at first: names */
    bool events;        /* repeated for each other event that has rows */
};

#define TABLE_WIDE 140

/* A column on screen. */
struct table_slot {
    uint8_t column; /* index in the type's columns */
    int8_t event;   /* of an `events` column; otherwise -1 */
    int16_t x, cols;
};

/* What a view provides: columns, and the contents of their cells. */
struct table_type {
    const struct table_column *column;
    int natural; /* the column by which the rows are already sorted, largest first */
    /* True if there is something to show in that column; NULL: always. */
    bool (*has)(const void *rows, int column);
    /* True if this other event gets a column; NULL: all get one. */
    bool (*has_event)(const void *rows, int event);
    /* Writes a head that changes. */
    const char *(*title)(const void *rows, int column, int event, const struct canvas *c, char *out,
                         size_t size);
    /* Called before the keys of a column are requested; NULL: nothing to do. */
    void (*prepare)(void *rows, int column);
    /* The sort key: larger keys come first (ascending: last). See table_key. */
    uint64_t (*key)(const void *rows, int column, int event, uint32_t row);
    void (*draw)(const void *rows, struct canvas *c, int y, int x, int cols,
                 const struct table_slot *slot, uint32_t row);
    uint64_t (*item)(const void *rows, uint32_t row); /* identity, see cursor.h */
    enum tag_kind tags;                               /* what that identity is as a tag */
    const char *(*text)(const void *rows, uint32_t row, char *out, size_t size); /* to search in */
    /* Returns the row to which this row belongs, and below which it stays in any sort order;
     * TABLE_NONE: none. NULL: there are no such rows. */
    uint32_t (*parent)(const void *rows, uint32_t row);
};

/* The rows of one answer. */
struct table_rows {
    void *rows; /* argument for the functions above */
    uint32_t count;
    bool in_order; /* sorted by the natural column; false: not sorted */
    const struct model *model;
};

struct table {
    const struct table_type *type;
    const char *columns; /* names, separated by ','; "": the default */
    int sort, sort_event;
    bool reversed;
    uint32_t *order; /* row by place; NULL: place and row are the same */
    uint32_t count;
    struct cursor cursor; /* over places */
    bool seeks;
    uint64_t sought;
    struct table_slot slot[TABLE_SLOTS]; /* as last drawn */
    int slots;
};

/* `columns` outlives the table; NULL: the default. Unknown names in it are ignored. */
void table_init(struct table *t, const struct table_type *type, const char *columns);
void table_free(struct table *t);

/* Sorts new rows, and finds the cursor's item again. If there is no memory, the rows keep their
 * order. */
void table_sort(struct table *t, const struct table_rows *r);

/* Draws heads and rows, or the reason why there are no rows. Returns the canvas row of the
 * cursor. */
int table_draw(struct table *t, struct canvas *c, struct area a, const struct table_rows *r);

/* Handles moving and sorting. False for other commands. */
bool table_command(struct table *t, enum command command, const struct table_rows *r);
/* Returns VIEW_DONE, VIEW_IGNORED, or VIEW_GO if the view has to do what Enter does. */
enum view_outcome table_mouse(struct table *t, struct area a, const struct mouse *press,
                              const struct table_rows *r);
/* As struct view_type.column and .sort. */
bool table_column(const struct table *t, const struct table_rows *r, const struct canvas *c,
                  int column, char head[32], bool *on);
bool table_sort_by(struct table *t, const struct table_rows *r, int column);
bool table_find(struct table *t, int by, const struct table_rows *r);
/* Moves the cursor to that item as soon as the table has it. */
void table_seek(struct table *t, uint64_t item);

/* table_row returns the row at a place, table_selected the cursor's row. TABLE_NONE: there is
 * none. */
uint32_t table_row(const struct table *t, uint32_t place);
uint32_t table_selected(const struct table *t);

/* Internal: finds out which columns are on screen, and where. */
void table_lay_out(struct table *t, int cols, const struct table_rows *r);

/* Returns a number as a key: smaller numbers have smaller keys, NaN the smallest. */
uint64_t table_key(double number);

/* Returns the largest value of a scale that fits `most`. It changes in few steps, so that a picture
 * is not drawn again each time its highest point moves. */
uint64_t table_scale(uint64_t most);

/* True if a view has a column of that name (`length` bytes): for config files. */
bool table_has_column(const struct table_type *type, const char *name, size_t length);

extern const struct table_type methods_table, threads_table;

#endif
