/*
 * A table: rows that are sorted by a column, and as many columns as there is room for. Which
 * columns there are, and how a cell looks, is the view's; order, heads, the cursor, the mouse and
 * the search are the same for all.
 *
 *   SELF%▾   ± TOTAL% SAMPLES T KIND   METHOD           heads, the sorted one marked
 *    31.0 ±2.9   31.0     310 i java   shop.Cart.total  a blank between columns
 *
 * Columns are taken in the order of the screen's width they ask for, then as they are listed, as
 * long as the flexible ones keep what the column leaves them. A list of names ("self,total") takes
 * the place of the shipped choice; its order is the order on screen.
 *
 * Rows are numbered as the view has them, places as they are on screen. Sorting is linear, by
 * 64-bit keys, once an answer; equal rows stay as the view has them.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_TABLE_H
#define JTOP_TUI_VIEW_TABLE_H

#include "tui/view/view.h"

#define TABLE_NONE UINT32_MAX
#define TABLE_SLOTS 24         /* columns on screen */
#define TABLE_NEVER UINT16_MAX /* from_cols: only where it is asked for by name */

struct table_column {
    const char *name;   /* in a config file: "self"; NULL ends the columns */
    const char *head;   /* NULL: the view's `title` says */
    uint8_t cols;       /* its width; a flexible one's least */
    uint8_t cols_wide;  /* from TABLE_WIDE columns on; 0: the same */
    uint8_t share;      /* flexible: its part of what is left; 0: not so … */
    uint8_t most;       /* … up to this width; 0: any */
    uint16_t from_cols; /* shown as shipped on screens at least so wide */
    uint8_t leaves;     /* … where the flexible ones have so many columns left */
    bool left;          /* its head is over its left edge */
    bool ascending;     /* sorted so at first: names */
    bool events;        /* one for each other event that has rows */
};

#define TABLE_WIDE 140

/* A column as it is on screen. */
struct table_slot {
    uint8_t column; /* index in the type's columns */
    int8_t event;   /* of an `events` column; -1 */
    int16_t x, cols;
};

/* What a view brings: columns, and what is in their cells. */
struct table_type {
    const struct table_column *column;
    int natural; /* the column by which the rows come sorted, largest first */
    /* There is something to show in that column; NULL: always. */
    bool (*has)(const void *rows, int column);
    /* Another event's column is one of these; NULL: all of them. */
    bool (*has_event)(const void *rows, int event);
    /* A head that changes. */
    const char *(*title)(const void *rows, int column, int event, const struct canvas *c, char *out,
                         size_t size);
    /* Before the keys of a column are asked for; NULL: nothing to do. */
    void (*prepare)(void *rows, int column);
    /* What it is sorted by: larger comes first (ascending: last). See table_key. */
    uint64_t (*key)(const void *rows, int column, int event, uint32_t row);
    void (*draw)(const void *rows, struct canvas *c, int y, int x, int cols,
                 const struct table_slot *slot, uint32_t row);
    uint64_t (*item)(const void *rows, uint32_t row); /* who it is, see cursor.h */
    const char *(*text)(const void *rows, uint32_t row, char *out, size_t size); /* to search in */
    /* The row that this one is below of, wherever that one is sorted to; TABLE_NONE: none. NULL:
     * there are no such rows. */
    uint32_t (*parent)(const void *rows, uint32_t row);
};

/* The rows of one answer. */
struct table_rows {
    void *rows; /* for the functions above */
    uint32_t count;
    bool in_order; /* as the natural column has them; otherwise in none */
    const struct model *model;
};

struct table {
    const struct table_type *type;
    const char *columns; /* names, ',' between them; "": as shipped */
    int sort, sort_event;
    bool reversed;
    uint32_t *order; /* row by place; NULL: place is row */
    uint32_t count;
    struct cursor cursor; /* over places */
    bool seeks;
    uint64_t sought;
    struct table_slot slot[TABLE_SLOTS]; /* as drawn last */
    int slots;
};

/* `columns` outlives the table; NULL: as shipped. Unknown names in it are nothing. */
void table_init(struct table *t, const struct table_type *type, const char *columns);
void table_free(struct table *t);

/* The rows are new: sorts them, and finds the cursor's item again. Without memory they are shown
 * as they are. */
void table_sort(struct table *t, const struct table_rows *r);

/* Heads and rows; says why where there are none. Returns the canvas row of the cursor. */
int table_draw(struct table *t, struct canvas *c, struct area a, const struct table_rows *r);

/* Moving, sorting; false where it is neither. */
bool table_command(struct table *t, enum command command, const struct table_rows *r);
/* VIEW_DONE, VIEW_IGNORED, or VIEW_GO for what Enter does. */
enum view_outcome table_mouse(struct table *t, struct area a, const struct mouse *press,
                              const struct table_rows *r);
bool table_find(struct table *t, int by, const struct table_rows *r);
/* The cursor goes to that item as soon as it is there. */
void table_seek(struct table *t, uint64_t item);

/* The row at a place; the cursor's row. TABLE_NONE: there are none. */
uint32_t table_row(const struct table *t, uint32_t place);
uint32_t table_selected(const struct table *t);

/* Inner: which columns are on screen, and where. */
void table_lay_out(struct table *t, int cols, const struct table_rows *r);

/* As a key: smaller numbers have smaller keys, NaN the smallest of all. */
uint64_t table_key(double number);

/* The largest value of a scale that fits `most`: it changes in few steps, so that a picture is not
 * drawn anew each time its highest point moves. */
uint64_t table_scale(uint64_t most);

/* Whether a view has a column of that name (length bytes): for config files. */
bool table_has_column(const struct table_type *type, const char *name, size_t length);

extern const struct table_type methods_table, threads_table;

#endif
