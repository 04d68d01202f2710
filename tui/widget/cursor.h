/*
 * Files:
 *   cursor       selected row of a changing list, and its scroll position
 *   format       numbers as short text: bytes, counts, times, percent
 *   line_editor  one-line text editor
 *   row_order    sorting of rows by key, and nesting of children below parents
 *   tree_rows    visible rows of a call tree whose nodes open and close
 *
 * The selected row of a list that changes under it, and the part of the list on screen.
 *
 * A row is known by an identity, not by its number: while numbers change and rows move, the
 * cursor stays on its item. Until somebody moves it, it stays on the first row: whoever just
 * watches wants the top. Home goes back to that.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_WIDGET_CURSOR_H
#define JTOP_TUI_WIDGET_CURSOR_H

#include "tui/key/keymap.h"

#include <stdbool.h>
#include <stdint.h>

struct cursor {
    uint32_t row;  /* selected */
    uint32_t top;  /* first row on screen */
    uint32_t page; /* rows that fitted on screen when last drawn */
    uint64_t item; /* identity of the selected row, where held */
    bool held;     /* somebody moved it: it follows its item */
};

/* The rows it moves over. */
struct cursor_rows {
    uint32_t count;
    uint64_t (*item)(const void *arg, uint32_t row);
    const void *arg;
};

/* Carries out a moving command; false where it is none. */
bool cursor_command(struct cursor *c, enum command command, const struct cursor_rows *rows);

/* Selects a row, clipped to what there is. */
void cursor_select(struct cursor *c, uint32_t row, const struct cursor_rows *rows);

/* After the rows changed: finds the item again. An item that is gone leaves the cursor at its
 * row number, on whatever is there now. */
void cursor_follow(struct cursor *c, const struct cursor_rows *rows);

/* Before drawing `page` rows: moves `top` no more than needed to have the selected row on
 * screen and the screen full. */
void cursor_fit(struct cursor *c, uint32_t count, uint32_t page);

#endif
