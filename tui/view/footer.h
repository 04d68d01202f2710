/*
 * The last line of the screen: the most useful keys for this place, from the key table.
 */
#ifndef JTOP_TUI_VIEW_FOOTER_H
#define JTOP_TUI_VIEW_FOOTER_H

#include "tui/key/keymap.h"
#include "tui/terminal/canvas.h"

void footer_draw(struct canvas *c, int row, const struct keymap *k, unsigned scope);

#endif
