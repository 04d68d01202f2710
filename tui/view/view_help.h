/*
 * The help screen, made from the key table.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_VIEW_VIEW_HELP_H
#define JTOP_TUI_VIEW_VIEW_HELP_H

#include "tui/key/keymap.h"
#include "tui/terminal/canvas.h"

/* Draws the help over the whole canvas, from line `top` on. Returns the largest useful `top`. */
int view_help_draw(struct canvas *c, const struct keymap *k, int top);

#endif
