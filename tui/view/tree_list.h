/*
 * A list of the rows of a tree that unfolds: moving, folding, search, the mouse, and the lines that
 * connect the rows. The view draws the columns beside it.
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
    bool cut;      /* not all nodes could be opened */
    /* as last drawn: the first column, and the number of levels hidden to the left of it */
    int left, hidden;
};

void tree_list_free(struct tree_list *l);

/* Call this after the tree or the set of open nodes has changed. */
void tree_list_build(struct tree_list *l, const struct snapshot *s);

/* Moves, opens and closes. False for other commands. */
bool tree_list_command(struct tree_list *l, const struct snapshot *s, enum command cmd);

/* Opens more from the cursor's row on, as the command does with a closed row. Other commands do
 * nothing. */
void tree_list_open(struct tree_list *l, const struct snapshot *s, enum command cmd);

/* Handles presses and the wheel, below one row of heads. False if they are not for this list. */
bool tree_list_mouse(struct tree_list *l, const struct snapshot *s, struct area a,
                     const struct mouse *press);

/* tree_list_go moves to a node, wherever it is. tree_list_find moves to a node of one of the
 * methods, as struct view_type.find. */
void tree_list_go(struct tree_list *l, const struct snapshot *s, uint32_t node);
bool tree_list_find(struct tree_list *l, const struct snapshot *s, int by,
                    const struct tree_matches *matches);

/* Returns the node of a row, or of the cursor's row (VIEW_CURSOR); SNAPSHOT_ROOT: none. */
uint32_t tree_list_node_at(const struct tree_list *l, const struct snapshot *s, uint32_t row);
uint32_t tree_list_node(const struct tree_list *l, const struct snapshot *s);

/* Call this before the rows are drawn. The tree begins at column `left` of a canvas that ends at
 * `end`. Deep levels are moved out to the left, so that the name in the cursor's row is visible. */
void tree_list_fit(struct tree_list *l, uint32_t page, int left, int end);
/* Draws the lines and the fold of a row. Returns the column where its name begins. */
int tree_list_lines(const struct tree_list *l, struct canvas *c, int y, int end,
                    const struct tree_row *r);

#endif
