/*
 * Allocations as a tree: classes, under them the sites that make objects of them, under those who
 * calls the site. A site is the first frame outside the JDK, because nobody can change what is
 * inside it; the JDK's method that was called there is kept beside it.
 *
 *      byte[]
 *        shop.Cart.render      via java.lang.StringBuilder.toString
 *          shop.Worker.run
 *
 * Only what is open is worked out: under a node that is closed stands one without method, to show
 * that there is something. What it makes has the form of a snapshot's tree, for tree_rows.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_ALLOC_TREE_H
#define JTOP_TUI_MODEL_ALLOC_TREE_H

#include "core/profile/snapshot/snapshot.h"
#include "tui/widget/tree_rows.h"

struct alloc_extra {
    uint32_t via;        /* METHOD_NONE: none */
    bool more_ways;      /* and others */
    uint32_t method_row; /* of a class in snapshot.methods; UINT32_MAX: it is none */
};

struct alloc_tree {
    struct snapshot tree;      /* nodes and sums; nothing else is there */
    struct alloc_extra *extra; /* by node */
    bool cut;                  /* not everything had room; sums of what is there are whole */
    /* inner state */
    struct alloc_node *node;
    uint32_t count, capacity;
    uint32_t *index, index_size; /* by path, open addressing */
    uint32_t *order;
    uint32_t *stack, stack_size;
};

/* What a method is: no code that could be a site, such code of the JDK or outside it, a thread. */
enum alloc_frame { ALLOC_NO_CODE, ALLOC_JDK, ALLOC_OWN, ALLOC_THREAD };

struct alloc_ask {
    const struct snapshot *snapshot; /* with a tree, of either direction … */
    bool inverted;                   /* … which this one is */
    const struct tree_rows *open;
    uint64_t seed;
    enum alloc_frame (*what)(const void *arg, uint32_t method);
    const void *arg;
};

/* -ENOMEM: some of it is missing. */
int alloc_tree_build(struct alloc_tree *t, const struct alloc_ask *ask);
void alloc_tree_free(struct alloc_tree *t);

#endif
