/*
 * The line that shows which view is on screen, what part of the samples it shows, and the state:
 *
 *    0ovr[1 methods] 2thr 3tre 4lck 5flm 6alc 7lin 8sta thread main  34.1% of all  last 1m  LIVE
 *
 * Titles of the other views get shorter before they leave room for nothing else.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_TAB_LINE_H
#define JTOP_TUI_VIEW_TAB_LINE_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

/* Draws the tabs, the question and the state in this row. */
void tab_line_draw(struct canvas *c, int row, const struct model *m, enum live_view view);

/* Returns the view whose tab is drawn at this column of the tabs' row; -1: none. */
int tab_line_at(const struct canvas *c, const struct model *m, enum live_view view, int col);

#endif
