/*
 * The detail pane: more about the row at the cursor, to the right of its list.
 *
 *   │shop.cart.Cart.total                       the method, or the thread
 *   │self 28.6%  total 44.1%  882 samples        of the answer that the list shows
 *   │CALLERS                        … 2 more    shares are of the method's samples
 *   │ 71.0 shop.http.Worker.handle
 *   │CALLS
 *
 * Each section has a fair part of the rows, at least one. With few rows, the names of the sections
 * stand beside their rows.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_DETAIL_PANE_H
#define JTOP_TUI_VIEW_DETAIL_PANE_H

#include "tui/model/detail.h"
#include "tui/terminal/canvas.h"
#include "tui/view/view.h"

#define DETAIL_PANE_COLS 100 /* narrower screens have no room for it */
#define DETAIL_PANE_ROWS 12
#define DETAIL_PANE_WIDE 140 /* from this width on it is open at first */

/* The rows that stand for a method or a thread, as last drawn. */
#define DETAIL_SPOTS (4 * (int)DETAIL_ROWS)
struct detail_pane {
    struct area area;
    struct detail_spot {
        int row;
        struct detail_subject to;
    } spot[DETAIL_SPOTS];
    int spots;
};

/* Returns its width on a screen of this size, with the line on its left; 0: there is no room. */
int detail_pane_cols(int rows, int cols);

/* Draws it. on NULL: no row is selected; `why` then says what to do. answer NULL: there is none
 * yet. */
void detail_pane_draw(struct detail_pane *p, struct canvas *c, struct area a, const struct model *m,
                      const struct view_subject *on, const char *why,
                      const struct detail_answer *answer);

/* Returns the method or thread in this row of the screen; NULL: neither. */
const struct detail_subject *detail_pane_at(const struct detail_pane *p, int row, int col);

#endif
