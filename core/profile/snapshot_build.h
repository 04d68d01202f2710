/*
 * The steps between a question and a snapshot.
 *
 *      gather    profile ─▶ items: (thread, leaf node) with what the query lets through
 *      threads   by thread only: virtual threads too light to be seen become one group
 *      spread    items ─▶ touches: every node above them, with totals; method rows on the way
 *      lines     touches, items ─▶ one method's lines
 *      branches  touches or items ─▶ the tree in the order it was built, parents first
 *      layout    branches ─▶ the tree in preorder, children sorted
 *
 * All arrays are scratch, freed when the snapshot is done. Nothing recurses: stacks are as deep as
 * a hostile JVM likes.
 *
 * Context: pure; the profile's lock held.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_BUILD_H
#define JTOP_PROFILE_SNAPSHOT_BUILD_H

#include "core/profile/big.h"
#include "core/profile/order.h"
#include "core/profile/profile_state.h"
#include "core/profile/snapshot.h"

/* Weight at a leaf. */
struct item {
    uint32_t thread; /* index in the thread table; once the tree is built, the leaf's branch,
                        SNAPSHOT_ROOT if that was pruned */
    uint32_t node;
    uint64_t weight, count;
};

/* Items of one thread, or all of them. */
struct group {
    uint32_t thread;
    uint32_t first, end; /* items */
};

/* A node's total within a group. */
struct touch {
    uint32_t node;
    uint32_t branch; /* SNAPSHOT_ROOT: cut or pruned */
    uint64_t weight, count;
};

/* A method's row as it is being counted, by method id: small, because there are many and they are
 * met in no order. */
struct row {
    uint64_t total;
    uint64_t tier[TIERS]; /* together the samples of the total */
};

struct total {
    uint64_t weight, count;
};

/* A tree node before its place is known. A parent's index is smaller than its children's. */
struct branch {
    uint32_t parent; /* SNAPSHOT_ROOT for roots */
    uint32_t method;
    uint64_t total;
    uint32_t size;        /* of the subtree */
    uint32_t first, next; /* first child, next sibling */
    uint32_t pos;         /* in preorder; until that is known: the path */
};

struct build {
    struct profile *p;
    const struct query *q;
    struct snapshot *s;

    uint8_t *drop; /* by node: the filter keeps samples with this leaf out; NULL: no filter */

    struct item *item;
    uint32_t items, item_cap;
    struct group *group;
    uint32_t groups;

    struct total *total; /* by node; all zero between two spreads */
    uint32_t totals;
    struct row *row;         /* NULL: rows are not wanted */
    uint32_t *mark;          /* by node: the spread that met it last */
    uint32_t spreads;        /* done so far */
    struct order_key *order; /* two halves, for sorting */
    uint32_t order_cap;
    struct touch *touch;
    uint32_t touches, touch_cap;
    uint64_t touched; /* in all groups */

    struct branch *branch;
    uint32_t branches, branch_cap;
    uint32_t *path_branch; /* by path: 1 + its branch in the group at hand */
    uint64_t *path_total;  /* by path: all zero between two groups */
    uint32_t path_cap;
    bool want_paths;     /* path_total is to be filled */
    uint32_t *tier_path; /* by node: its path where tiers are told apart; NULL: they are
                                    not, and the tree's paths serve */
    struct call_path *tier_paths;
    uint32_t tier_path_count;
    uint64_t least;              /* total of branches that are not pruned */
    struct snapshot_node *built; /* inverted only, by branch: its counters */
    uint32_t built_cap;
};

/* Trees are cut beyond these, so that no question can eat the machine: a top-down tree stops
 * growing, an inverted one ends at some depth. What is cut counts as the self of the node above.
 * With so many touches done, further threads show no stacks of their own. */
#define BRANCHES_MAX (UINT32_C(1) << 21)
#define BRANCHES_INVERTED_MAX (UINT32_C(1) << 19)
#define TOUCHES_MAX (UINT64_C(1) << 25)

/* Each returns 0 or -ENOMEM. */
int gather_items(struct build *b);
int build_threads(struct build *b); /* by thread, once `least` is known: light ones share a group */
int spread(struct build *b, const struct group *g); /* appends touches, ascending by node */
int build_method_rows(struct build *b);
int build_lines(struct build *b); /* after build_method_rows, before the tree */
int build_tiers(struct build *b); /* before build_paths */
int build_paths(struct build *b); /* before the spread that build_branches will use */
int build_branches(struct build *b);
int build_inverted(struct build *b);
int build_layout(struct build *b);

/* The path that the tree to be built has for a node, and the paths it has. */
static inline uint32_t build_path_of(const struct build *b, uint32_t node) {
    return b->tier_path ? b->tier_path[node] : b->p->tree.node[node].path;
}

static inline const struct call_path *build_path(const struct build *b, uint32_t path) {
    return b->tier_path ? &b->tier_paths[path] : &b->p->tree.path[path];
}

/* Merges items of the same node within a group and moves them to `out`, whose end it returns.
 * where[node], for all nodes, may say anything: it is believed only if it fits. */
uint32_t gather_merge(struct build *b, struct group *g, uint32_t out, uint32_t *where);
/* One more branch; its index, or SNAPSHOT_ROOT without memory. */
uint32_t branch_add(struct build *b, uint32_t parent, uint32_t method);
/* The first-level branch of a group's thread. SNAPSHOT_ROOT without memory. */
uint32_t branch_of_thread(struct build *b, const struct group *g);

#endif
