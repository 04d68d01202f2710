/*
 * Functions that the views of a call tree share: the identity of a node, its stack as text, and the
 * methods that match the search.
 *
 * A node is identified by the hash of its path from the root. So it is found again in the next
 * answer, where it has another number.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_TREE_NODES_H
#define JTOP_TUI_VIEW_TREE_NODES_H

#include "tui/view/view.h"
#include "tui/widget/tree_rows.h"

/* Returns the value at which all paths of the answer's tree start. It differs between trees of
 * different kinds, which have nothing in common. */
uint64_t tree_seed(const struct model *m);

/* Gets a node's method, or its thread if it is one. False for numbers out of range, and if the
 * thread is not found. */
bool tree_subject(const struct model *m, const struct snapshot *s, uint32_t node,
                  struct view_subject *out);

/* Gets a node as a tag: its method, or its thread. False for numbers out of range. */
bool tree_tag(const struct model *m, const struct snapshot *s, uint32_t node, struct tag *out);

/* Appends a node's stack: one line per frame, leaf first. */
void tree_copy(const struct model *m, const struct snapshot *s, uint32_t node, struct text *out);

/* Compares by name: < 0 if `method` comes before `other`. `arg` is a const struct model *. */
int tree_name_order(const void *arg, uint32_t method, uint32_t other);

/* Returns the node of this method with the largest total; SNAPSHOT_ROOT: none. */
uint32_t tree_hottest_of(const struct snapshot *s, uint32_t method);

/* Returns as much of a name as there is room for. Of a Java method, first the packages are dropped,
 * then the class, because they are the least useful parts. Points into `name`; it may still be too
 * long. */
const char *tree_short_name(const struct canvas *c, const char *name, enum method_kind kind,
                            int cols);

/* The methods whose name contains model->search. The result is needed for each node, so it is
 * kept. */
struct tree_matches {
    char of[LINE_EDITOR_BYTES];
    uint8_t *is; /* by method id */
    uint32_t count;
};

/* Updates the matches from the model. If there is no memory, fewer methods match. */
void tree_matches_update(struct tree_matches *t, const struct model *m);
bool tree_matches_has(const struct tree_matches *t, uint32_t method);
void tree_matches_free(struct tree_matches *t);
/* Returns the weight of the samples with such a method on their stack. */
uint64_t tree_matches_weight(const struct tree_matches *t, const struct snapshot *s);

#endif
