/*
 * A screen as lines to be read aloud: "1. shop.Ledger.book, self 33.1 %, total 33.7 %". The names
 * of a row's parts are taken from the columns' heads, so this works for every view.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_SCREEN_PLAIN_PAGE_H
#define JTOP_TUI_SCREEN_PLAIN_PAGE_H

#include "tui/terminal/canvas.h"

#include <stdbool.h>

/* Appends the lines of a canvas that screen_draw has drawn with UTF-8 glyphs. `cursor`: the
 * selected row; `head`: also what is above the views. The footer is left out. */
void plain_page(const struct canvas *c, int cursor, bool head, struct text *out);

#endif
