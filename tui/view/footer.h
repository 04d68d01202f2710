/*
 * The last line of the screen: the most useful keys for this place, from the key table. A function
 * key is shown before a letter that does the same.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_VIEW_FOOTER_H
#define JTOP_TUI_VIEW_FOOTER_H

#include "tui/key/keymap.h"
#include "tui/terminal/canvas.h"

void footer_draw(struct canvas *c, int row, const struct keymap *k, unsigned scope);

/* Returns the press of the key that is drawn at this column; PRESS_NONE: none. */
int32_t footer_press_at(const struct canvas *c, const struct keymap *k, unsigned scope, int col);

#endif
