/*
 * The last minutes of the event in question as a graph, a column OVERVIEW_CELL_SECONDS, and below
 * it a line of the VM's pauses: g G collections, s S other safepoints, large where one second had
 * 100 ms of them. Like the strip's, each column of time has its place, and the newest runs ahead of
 * a gap.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_OVERVIEW_GRAPH_H
#define JTOP_TUI_MODEL_OVERVIEW_GRAPH_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

#define OVERVIEW_CELL_SECONDS 4u
#define OVERVIEW_CELLS (MODEL_SECONDS / OVERVIEW_CELL_SECONDS)
#define OVERVIEW_LABEL_COLS 9
#define OVERVIEW_GRAPH_COLS (OVERVIEW_LABEL_COLS + (int)OVERVIEW_CELLS)

/* Into the area, whose last row is that of the pauses; its columns beyond the graph's stay as they
 * are, and where there are less, it shows less time. */
void overview_graph_draw(struct canvas *c, struct area a, const struct model *m);

#endif
