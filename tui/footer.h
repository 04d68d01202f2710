/*
 * The last line: the keys that matter where one is, from the key table.
 */
#ifndef JTOP_TUI_FOOTER_H
#define JTOP_TUI_FOOTER_H

#include "tui/canvas.h"

void footer_draw(struct canvas *c, int row, unsigned scope);

#endif
