/*
 * The steps from a query to a snapshot.
 *
 *      gather    profile ─▶ items: (thread, leaf node) with the weight that the query keeps
 *      states    the states of the threads while they were sampled
 *      locks     who waited for which lock, from a table of its own
 *      threads   in trees by thread: light virtual threads become one group
 *      spread    items ─▶ touches: the nodes above them, with totals; also counts method rows
 *      lines     touches, items ─▶ the lines of one method
 *      branches  touches or items ─▶ the tree in the order in which it was built, parents first
 *      sites     inverted branches without the frames of the JDK above the roots
 *      layout    branches ─▶ the tree in preorder, children sorted
 *      sparks    the last seconds of the history ─▶ weight over time, for the rows
 *
 * All arrays are scratch memory: freed when the snapshot is complete, or kept with the profile for the
 * next one (struct scratch). No function recurses, because
 * a hostile JVM can send stacks of any depth.
 *
 * Context: pure; the profile is locked.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_SNAPSHOT_BUILD_H
#define JTOP_PROFILE_SNAPSHOT_SNAPSHOT_BUILD_H

#include "core/profile/profile_state.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/big.h"
#include "core/profile/table/order.h"

/* The weight at a leaf. */
struct item {
    uint32_t thread; /* index in the thread table; after the tree is built: the leaf's branch, or
                        SNAPSHOT_ROOT if that was pruned */
    uint32_t node;
    uint64_t weight, count;
};

/* The items of one thread, or all items. */
struct group {
    uint32_t thread;
    uint32_t first, end; /* range of items */
};

/* A node's total within a group. */
struct touch {
    uint32_t node;
    uint32_t branch; /* SNAPSHOT_ROOT: cut or pruned */
    uint64_t weight, count;
};

/* A tree node before its position is known. A parent's index is smaller than its children's. */
struct branch {
    uint32_t parent; /* SNAPSHOT_ROOT for roots */
    uint32_t method;
    uint64_t total;
    uint32_t size;        /* of the subtree */
    uint32_t first, next; /* first child, next sibling */
    uint32_t pos;         /* position in preorder; until that is known: the path */
};

struct build {
    struct profile *p;
    const struct query *q;
    struct snapshot *s;

    const struct filter *filter; /* belongs to the profile; NULL: everything is kept */

    /* The sums that the profile already has. NULL: they do not answer this query, so items are
     * gathered and spread. */
    struct standing *standing;

    const uint32_t *left; /* by node: native_fold.left; NULL: nothing is folded */
    bool lean;            /* build forks, so no array by node is needed */
    uint32_t only; /* keep only what this row of threads of the VM stands for; CALL_ROOT: all */

    struct item *item;
    uint32_t items, item_cap;
    struct group *group;
    uint32_t groups;
    uint32_t *row_thread; /* by thread row: its index in the thread table */

    struct total *total; /* by node: at leaves, the gathered weight; all zeroes between
                            two spreads */
    uint32_t totals;
    struct row *row;        /* by method; NULL: rows are not needed */
    uint64_t *mark;         /* one bit per node; no bit is set between two spreads */
    uint64_t *marked_words; /* one bit per word of `mark` */
    struct touch *touch;
    uint32_t touches, touch_cap;
    uint64_t touched;  /* number of touches in all groups */
    bool want_touches; /* false: a spread only counts rows, and may omit touches */

    struct branch *branch;
    uint32_t branches, branch_cap;
    uint32_t *path_branch; /* by path: 1 + its branch in the current group */
    uint64_t *path_total;  /* by path; all zeroes between two groups */
    const uint64_t *paths; /* the totals that are used: path_total, or the profile's */
    uint32_t path_cap;
    bool want_paths;    /* path_total must be filled */
    uint32_t *own_path; /* by node: its path if tiers are distinct, if native frames are folded or
                           if the tree begins at a method; CALL_ROOT: above that method, or folded.
                           NULL: the call tree's paths are used */
    struct call_path *own_paths;
    uint32_t own_path_count;
    bool paths_are_lent;         /* they belong to the profile's native_fold */
    uint64_t least;              /* minimum total of a branch that is not pruned */
    struct snapshot_node *built; /* inverted trees only; by branch: its counters */
    uint32_t built_cap;
    uint32_t *via;     /* by branch, with query.sites: as snapshot.via */
    uint32_t heaviest; /* thread of the group with the most weight; only with close_roots */
    uint32_t *closed;  /* branches of closed roots; there is room for all roots */
    uint32_t closed_count;
};

/* Trees are cut at these limits, so that no query can use up the machine: a top-down tree stops
 * growing, and an inverted tree ends at some depth. The weight of what is cut counts as the self of
 * the node above. After this many touches, further threads show no stacks of their own. */
#define BRANCHES_MAX (UINT32_C(1) << 21)
#define BRANCHES_INVERTED_MAX (UINT32_C(1) << 19)
#define TOUCHES_MAX (UINT64_C(1) << 25)

/* Each returns 0 or -ENOMEM. */
int gather_items(struct build *b);
int gather_leaves(struct build *b); /* with build_has_leaves, after `least` is known; with
                                       build_has_roots, only leaves that are heavy enough to have
                                       something below them */
int build_states(struct build *b);
int build_locks(struct build *b);
int build_threads(struct build *b);  /* by thread, after `least` is known: light threads
                                        share a group; finds the heaviest */
int spread_reserve(struct build *b); /* makes room for `total` */
int spread_totals(struct build *b);  /* spreads all items, which are in `total` */
int spread(struct build *b, const struct group *g); /* spreads the items of a group; appends
                                                       touches, ascending by node, but not for nodes
                                                       that no step needs */
int build_method_rows(struct build *b);
int build_lines(struct build *b);     /* after build_method_rows, before the tree */
int build_own_paths(struct build *b); /* before build_paths */
/* Replaces a spread: makes touches for the needed nodes, and the items there. */
int build_from_standing(struct build *b);
int build_paths(struct build *b); /* before the spread whose result build_branches uses */
int build_branches(struct build *b);
int build_inverted(struct build *b);
int build_sites(struct build *b); /* after build_inverted */
int build_layout(struct build *b);
int build_forks(struct build *b);  /* replaces the spread and the tree; counts method rows, too */
int build_ways(struct build *b);   /* with query.sites, after build_layout: snapshot.via */
int build_sparks(struct build *b); /* after the rows are in their final order */

/* Whether the query includes this thread. */
static inline bool build_asks_for(const struct query *q, const struct thread *t) {
    if (q->virtual_id != 0)
        return t->is_virtual && t->java_id == q->virtual_id;
    return q->tid == QUERY_ALL_THREADS || (!t->is_virtual && t->tid == q->tid);
}

/* Whether samples of virtual threads belong to their carriers. */
static inline bool build_by_carrier(const struct query *q) {
    return q->carriers && q->virtual_id == 0;
}

/* Whether the tree begins at the outermost frame of the query's method. */
static inline bool build_from_method(const struct query *q) {
    return q->tree && q->from_method && q->with_method;
}

/* Whether the tree needs other paths than those of the call tree. */
static inline bool build_has_own_paths(const struct query *q) {
    return q->tree && !q->inverted && (q->tiers || q->fold_natives || build_from_method(q));
}

/* Whether the tree can be forks: it is the call tree from its roots, with nothing left out. */
static inline bool build_is_lean(const struct build *b) {
    const struct query *q = b->q;
    return q->tree && q->forks && !q->inverted && !q->by_thread && !q->lines && !q->prune_ppm &&
           !build_has_own_paths(q) && !b->left;
}

/* Whether the query is about the time from some second until now. */
static inline bool build_until_now(const struct query *q) {
    return q->from_second > 0 && q->to_second == 0;
}

/* Whether the standing sums are enough for a query about everything until now: they are if it has no
 * tree, or a tree with only heavy nodes. */
static inline bool build_is_standing(const struct query *q) {
    return !q->tree || (q->prune_ppm > 0 && !q->tiers);
}

/* Whether the tree needs items, because the standing sums are not by thread. */
static inline bool build_needs_items(const struct query *q) {
    return q->tree && q->by_thread;
}

/* Whether the items are leaves that gather_leaves takes, for an inverted tree from standing sums. */
static inline bool build_has_leaves(const struct build *b) {
    return b->standing && b->q->tree && b->q->inverted && !build_needs_items(b->q);
}

/* Whether they are only those of heavy roots, because the standing sums have the others' roots. Lines
 * need all of them. */
static inline bool build_has_roots(const struct build *b) {
    return build_has_leaves(b) && !b->q->lines;
}

/* Whether the tree is built from touches instead of level by level. */
static inline bool build_is_top_down(const struct query *q) {
    return q->tree && !q->inverted;
}

/* Whether the query is about all seconds, including those that the history no longer has. */
static inline bool build_always(const struct query *q) {
    return q->from_second == 0 && q->to_second == 0;
}

/* Whether the window starts at the beginning and ends within the history. All samples after the
 * window are then known: the sums of everything minus these give the window. */
static inline bool build_from_beginning(const struct profile *p, const struct query *q) {
    return q->from_second == 0 && q->to_second != 0 && q->to_second < UINT64_MAX &&
           p->history.gone <= q->to_second + 1;
}

/* The last second of the window. */
static inline uint64_t build_last_second(const struct query *q) {
    return q->to_second ? q->to_second : UINT64_MAX;
}

/* Returns the node above; CALL_ROOT: none. Between Java frames, what is folded is left out. */
static inline uint32_t build_parent(const struct build *b, uint32_t node) {
    uint32_t parent = b->p->tree.node[node].parent;
    if (!b->left || parent == CALL_ROOT)
        return parent;
    uint32_t left = native_fold_parent(&b->p->native_fold, node, parent);
    return left == NATIVE_FOLD_NONE ? CALL_ROOT : left;
}

/* Returns the node of the row that stands for a thread of the VM; CALL_ROOT: none does for this
 * stack. native_fold_update was called. */
static inline uint32_t build_row(const struct build *b, uint32_t node, uint32_t thread) {
    const struct native_fold *f = &b->p->native_fold;
    return f->left[node] == NATIVE_FOLD_NONE ? f->vm[f->kind[thread]] - 1 : CALL_ROOT;
}

/* Whether the query keeps only one such row, and this is another stack. */
static inline bool build_is_other_row(const struct build *b, uint32_t node, uint32_t thread) {
    return b->only != CALL_ROOT && build_row(b, node, thread) != b->only;
}

/* Returns the node that a thread's sample counts for. */
static inline uint32_t build_leaf(const struct build *b, uint32_t node, uint32_t thread) {
    if (!b->left)
        return node;
    if (b->left[node] & NATIVE_FOLD_JAVA)
        return b->left[node] & ~NATIVE_FOLD_JAVA;
    /* a stack that is kept for a method on it stays, so that the method is there */
    uint32_t row = b->q->with_method ? CALL_ROOT : build_row(b, node, thread);
    return row == CALL_ROOT ? node : row;
}

/* The number of a node's path in the tree to be built. */
static inline uint32_t build_path_of(const struct build *b, uint32_t node) {
    return b->own_path ? b->own_path[node] : b->p->tree.node[node].path;
}

/* The path with this number. */
static inline const struct call_path *build_path(const struct build *b, uint32_t path) {
    return b->own_path ? &b->own_paths[path] : &b->p->tree.path[path];
}

/* Whether a path is too light for the tree to be built. `root`: the branch above paths without
 * a parent. */
static inline bool build_is_pruned(const struct build *b, uint32_t path, uint32_t root) {
    return b->paths[path] < b->least &&
           (root != SNAPSHOT_ROOT || build_path(b, path)->parent != CALL_ROOT);
}

/* Adds a branch; returns its index, or SNAPSHOT_ROOT if there is no memory. */
uint32_t branch_add(struct build *b, uint32_t parent, uint32_t method);
/* Adds the first-level branch of a group's thread. SNAPSHOT_ROOT if there is no memory. */
uint32_t branch_of_thread(struct build *b, const struct group *g);
/* Whether there is something below the branch of a group's thread; otherwise it is noted as closed.
 * `weight`: of the group. */
bool branch_opens(struct build *b, const struct group *g, uint32_t branch, uint64_t weight);

#endif
