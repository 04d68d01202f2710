/*
 * Allocations as a tree: classes on the first level, below a class the sites that allocate its
 * objects, below a site its callers. A site is the first frame outside the JDK, because the user
 * cannot change code in the JDK. The JDK method that the site called is kept beside it.
 *
 *      byte[]
 *        shop.Cart.render      via java.lang.StringBuilder.toString
 *          shop.Worker.run
 *
 * Only open nodes are computed. A closed node with something below it has one placeholder child
 * without a method. The result has the form of a snapshot's tree, as tree_rows expects it.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_ALLOC_TREE_H
#define JTOP_TUI_MODEL_ALLOC_TREE_H

#include "core/profile/snapshot/snapshot.h"
#include "tui/widget/tree_rows.h"

struct alloc_extra {
    uint32_t via;        /* JDK method called by the site; METHOD_NONE: none */
    bool more_ways;      /* there are other such methods than `via` */
    uint32_t method_row; /* of a class: index in snapshot.methods; UINT32_MAX: not a class */
};

struct alloc_tree {
    struct snapshot tree;      /* only nodes, sums and depth are set */
    struct alloc_extra *extra; /* by node */
    bool cut;                  /* some nodes are missing; the sums of existing nodes are complete */
    /* internal state */
    struct alloc_node *node;
    uint32_t count, capacity;
    uint32_t *index, index_size; /* hash table by path, open addressing */
    uint32_t *order;
    uint32_t *stack, stack_size;
};

/* Kind of a method: not code that could be a site; such code in the JDK, or outside it; a
 * thread. */
enum alloc_frame { ALLOC_NO_CODE, ALLOC_JDK, ALLOC_OWN, ALLOC_THREAD };

struct alloc_ask {
    const struct snapshot *snapshot; /* with a tree, top-down or inverted */
    bool inverted;                   /* true: this tree is inverted */
    const struct tree_rows *open;
    uint64_t seed;
    enum alloc_frame (*what)(const void *arg, uint32_t method);
    const void *arg;
};

/* -ENOMEM: some of the tree is missing. */
int alloc_tree_build(struct alloc_tree *t, const struct alloc_ask *ask);
void alloc_tree_free(struct alloc_tree *t);

#endif
