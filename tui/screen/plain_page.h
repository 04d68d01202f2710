/*
 * A screen as lines to be read aloud: "1. shop.Ledger.book, self 33.1 %, total 33.7 %". What a row's
 * parts are called is read off the columns' heads, so every view reads like this.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_SCREEN_PLAIN_PAGE_H
#define JTOP_TUI_SCREEN_PLAIN_PAGE_H

#include "tui/terminal/canvas.h"

#include <stdbool.h>

/* The canvas as screen_draw left it, with UTF-8 glyphs. `cursor`: the selected row; `head`: what is
 * above the views too. The footer is left out. */
void plain_page(const struct canvas *c, int cursor, bool head, struct text *out);

#endif
