/*
 * A list of the rows of a tree that unfolds: moving, folding, finding, the mouse, and the lines
 * that connect the rows. Columns beside it are the view's.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_TREE_LIST_H
#define JTOP_TUI_VIEW_TREE_LIST_H

#include "tui/view/tree_nodes.h"
#include "tui/widget/cursor.h"
#include "tui/widget/tree_rows.h"

struct tree_list {
    struct cursor cursor;
    struct tree_rows rows;
    uint64_t seed; /* of the tree it shows */
    bool cut;      /* not everything could be opened */
    /* as drawn last: the first column, and the levels to the left of it */
    int left, hidden;
};

void tree_list_free(struct tree_list *l);

/* After the tree, or what is open, changed. */
void tree_list_build(struct tree_list *l, const struct snapshot *s);

/* Moves, opens and closes. False where it is no such command. */
bool tree_list_command(struct tree_list *l, const struct snapshot *s, enum command cmd);

/* Presses and the wheel, under one row of heads. False where it is nothing of this list's. */
bool tree_list_mouse(struct tree_list *l, const struct snapshot *s, struct area a,
                     const struct mouse *press);

/* Goes to a node, wherever it is; and to one of the methods, as struct view_type.find. */
void tree_list_go(struct tree_list *l, const struct snapshot *s, uint32_t node);
bool tree_list_find(struct tree_list *l, const struct snapshot *s, int by,
                    const struct tree_matches *matches);

/* The node of the cursor's row; SNAPSHOT_ROOT: none. */
uint32_t tree_list_node(const struct tree_list *l, const struct snapshot *s);

/* Before the rows are drawn: what is on screen, the tree beginning at column `left` of a canvas
 * that ends at `end`. Deep levels move out to the left, so that the cursor's row shows its name. */
void tree_list_fit(struct tree_list *l, uint32_t page, int left, int end);
/* Lines and fold of a row. Returns the column its name begins at. */
int tree_list_lines(const struct tree_list *l, struct canvas *c, int y, int end,
                    const struct tree_row *r);

#endif
