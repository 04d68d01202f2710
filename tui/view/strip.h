/*
 * The last seconds in three rows: how much of the current event there was in each, how long the VM
 * was paused, so that a dip is explained, and a clock.
 *
 *      50%   ▅▇▆▇▇▇▂▆▇▇▇▇▇▆▇▇        the newest second is at the right
 *   pauses         G
 *            14:57:15        now
 *
 * Everything moves to the left by a column each second, which the terminal does by itself (DCH,
 * tui/terminal/escapes.c). While the screen is paused, the strip stands still, and the seconds
 * shown by the views are reversed.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_VIEW_STRIP_H
#define JTOP_TUI_VIEW_STRIP_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

#define STRIP_ROWS 3

/* Draws into `row` and the rows below. */
void strip_draw(struct canvas *c, int row, const struct model *m);

/* Returns the second that is drawn in this column of a strip of `cols` columns; the nearest one if
 * the column has none; 0: the strip is empty. */
uint64_t strip_second_at(const struct model *m, int cols, int col);

#endif
