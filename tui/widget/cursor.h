/*
 * Files:
 *   chart        pieces of charts of weight over time: scale, columns, pauses
 *   cursor       selected row of a changing list, and its scroll position
 *   line_editor  one-line text editor
 *   row_order    sorting of rows by key, and nesting of children below parents
 *   tags         items that the user tagged, by identity
 *   tree_rows    visible rows of a call tree whose nodes open and close
 *
 * The selected row of a list that changes, and the part of the list that is on screen.
 *
 * A row is known by its identity, not by its number: while numbers change and rows move, the cursor
 * stays on its item. Until the user moves the cursor, it stays on the first row, because a user who
 * only watches wants the top. Home goes back to that.
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
    uint32_t page; /* rows that fitted on screen at the last drawing */
    uint64_t item; /* identity of the selected row, if held */
    bool held;     /* the user moved the cursor: it follows its item */
};

/* The rows that the cursor moves over. */
struct cursor_rows {
    uint32_t count;
    uint64_t (*item)(const void *arg, uint32_t row);
    const void *arg;
};

/* Carries out a moving command. False if `command` is another one. */
bool cursor_command(struct cursor *c, enum command command, const struct cursor_rows *rows);

/* Selects a row; a number too large selects the last row. */
void cursor_select(struct cursor *c, uint32_t row, const struct cursor_rows *rows);

/* Finds the item again after the rows changed. If the item is gone, the cursor stays at its row
 * number, and selects the item that now has it. */
void cursor_follow(struct cursor *c, const struct cursor_rows *rows);

/* Call this before drawing `page` rows. Moves `top` as little as needed to have the selected row on
 * screen and the screen full. */
void cursor_fit(struct cursor *c, uint32_t count, uint32_t page);

#endif
