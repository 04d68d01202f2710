/*
 * The last minutes of the current event as a graph, one column per OVERVIEW_CELL_SECONDS. Below it
 * is a line with the VM's pauses: g G collections, s S other safepoints; it is a capital letter if
 * one second had 100 ms of pauses. The newest column is at the right.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_OVERVIEW_GRAPH_H
#define JTOP_TUI_MODEL_OVERVIEW_GRAPH_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"
#include "tui/widget/chart.h"

#define OVERVIEW_CELL_SECONDS 4u
#define OVERVIEW_CELLS (MODEL_SECONDS / OVERVIEW_CELL_SECONDS)
#define OVERVIEW_LABEL_COLS CHART_LABEL_COLS
#define OVERVIEW_GRAPH_COLS (OVERVIEW_LABEL_COLS + (int)OVERVIEW_CELLS)

/* Draws into the area; its last row shows the pauses. Columns of the area beyond the graph's width
 * are not changed. A narrower area shows less time. */
void overview_graph_draw(struct canvas *c, struct area a, const struct model *m);

#endif
