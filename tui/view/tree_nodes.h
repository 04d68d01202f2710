/*
 * What the views of a call tree have in common: who a node is, its stack as text, and which
 * methods are searched for.
 *
 * A node is known by the hash of its path from the root, so that it is found again in the next
 * answer, where its number is another one.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_TREE_NODES_H
#define JTOP_TUI_VIEW_TREE_NODES_H

#include "tui/view/view.h"
#include "tui/widget/tree_rows.h"

/* Of the answer's tree: trees of different kinds have nothing in common. Where paths start from. */
uint64_t tree_seed(const struct model *m);

/* A node's method, or the thread where it is one. False for numbers out of range. */
bool tree_subject(const struct model *m, const struct snapshot *s, uint32_t node,
                  struct view_subject *out);

/* A line a frame, leaf first. */
void tree_copy(const struct model *m, const struct snapshot *s, uint32_t node, struct text *out);

/* By name: < 0 where the one comes first. `arg` is a const struct model *. */
int tree_name_order(const void *arg, uint32_t method, uint32_t other);

/* The node of this method with the largest total; SNAPSHOT_ROOT: none. */
uint32_t tree_hottest_of(const struct snapshot *s, uint32_t method);

/* As much of a name as there is room for: of a Java method's the packages, then the class are
 * dropped, because they say least. Points into `name`; it may still be too long. */
const char *tree_short_name(const struct canvas *c, const char *name, enum method_kind kind,
                            int cols);

/* Methods whose name has model->search in it: asked for by the node, so kept. */
struct tree_matches {
    char of[LINE_EDITOR_BYTES];
    uint8_t *is; /* by method id */
    uint32_t count;
};

/* Follows the model. Without memory fewer match. */
void tree_matches_update(struct tree_matches *t, const struct model *m);
bool tree_matches_has(const struct tree_matches *t, uint32_t method);
void tree_matches_free(struct tree_matches *t);
/* Weight of the samples with such a method on their stack. */
uint64_t tree_matches_weight(const struct tree_matches *t, const struct snapshot *s);

#endif
