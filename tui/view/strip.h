/*
 * The last seconds in two rows: how much of the current event there was in each, and how long the
 * VM was paused, so that a dip is explained.
 *
 * While sampling goes on, each second keeps its place, as on an ECG: the newest one is drawn after
 * the one before, and a gap follows it. A strip that scrolls would have to be sent again every
 * second.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_VIEW_STRIP_H
#define JTOP_TUI_VIEW_STRIP_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

#define STRIP_ROWS 2

/* Draws into `row` and the row below. */
void strip_draw(struct canvas *c, int row, const struct model *m);

#endif
