/*
 * Draws the frames of a flame graph into cells: a background for each frame, its name if there is
 * room, and a border at its right. With line drawing, a border is half a cell, so a width is exact
 * to half a cell. In ASCII, a border is a '|' and takes a whole cell.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_FLAME_PICTURE_H
#define JTOP_TUI_VIEW_FLAME_PICTURE_H

#include "tui/model/flame.h"
#include "tui/model/model.h"
#include "tui/terminal/canvas.h"
#include "tui/view/tree_nodes.h"

struct flame_picture {
    const struct flame *flame;
    const struct tree_matches *matches;
    uint32_t cursor; /* box; FLAME_NONE: none */
    uint32_t top;    /* the first depth shown */
    bool from_above; /* `top` is in the top row; false: in the bottom row */
};

/* Returns the number of units in a cell of this canvas. */
uint32_t flame_cell_units(const struct canvas *c);
/* Draws the whole area; rows without frames stay blank. */
void flame_picture_draw(struct canvas *c, struct area a, const struct flame_picture *p,
                        const struct model *m);
/* Returns the box at a cell; FLAME_NONE: none. */
uint32_t flame_picture_at(const struct flame_picture *p, struct area a, int row, int col);
/* Draws a line about a box; with a search, also the weight of all samples that match. */
void flame_picture_tell(struct canvas *c, struct area a, const struct flame_picture *p,
                        uint32_t box, uint64_t matched, const struct model *m);
/* Returns the canvas row of a depth. */
int flame_picture_row(const struct flame_picture *p, struct area a, uint32_t depth);

#endif
