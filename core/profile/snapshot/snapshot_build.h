/*
 * The steps between a question and a snapshot.
 *
 *      gather    profile ─▶ items: (thread, leaf node) with what the query lets through
 *      states    what the threads did while they were sampled
 *      locks     who waited for what, out of a table of its own
 *      threads   by thread only: virtual threads too light to be seen become one group
 *      spread    items ─▶ touches: the nodes above them, with totals; method rows on the way
 *      lines     touches, items ─▶ one method's lines
 *      branches  touches or items ─▶ the tree in the order it was built, parents first
 *      layout    branches ─▶ the tree in preorder, children sorted
 *      sparks    the history's last seconds ─▶ weight over time, for the rows
 *
 * All arrays are scratch, freed when the snapshot is done. Nothing recurses: stacks are as deep as
 * a hostile JVM likes.
 *
 * Context: pure; the profile's lock held.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_SNAPSHOT_BUILD_H
#define JTOP_PROFILE_SNAPSHOT_SNAPSHOT_BUILD_H

#include "core/profile/profile_state.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/big.h"
#include "core/profile/table/order.h"

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

    const struct filter *filter; /* the profile's; NULL: everything is kept */

    /* What the profile has summed up already; NULL: the question is a special one, and items are
     * gathered and spread. */
    const struct standing *standing;

    struct item *item;
    uint32_t items, item_cap;
    struct group *group;
    uint32_t groups;
    uint32_t *row_thread; /* by thread row: its index in the thread table */

    struct total *total; /* by node: at leaves what was gathered; all zero between two spreads */
    uint32_t totals;
    struct row *row;        /* by method; NULL: rows are not wanted */
    uint64_t *mark;         /* bits by node, none set between two spreads … */
    uint64_t *marked_words; /* … and by word of those */
    struct touch *touch;
    uint32_t touches, touch_cap;
    uint64_t touched;  /* in all groups */
    bool want_touches; /* else a spread only counts rows, and may leave none */

    struct branch *branch;
    uint32_t branches, branch_cap;
    uint32_t *path_branch; /* by path: 1 + its branch in the group at hand */
    uint64_t *path_total;  /* by path: all zero between two groups … */
    const uint64_t *paths; /* … or the profile's: those that count */
    uint32_t path_cap;
    bool want_paths;    /* path_total is to be filled */
    uint32_t *own_path; /* by node: its path where tiers are told apart or where the tree
                                    begins at a method, CALL_ROOT above that; NULL: the call
                                    tree's paths serve */
    struct call_path *own_paths;
    uint32_t own_path_count;
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
int build_states(struct build *b);
int build_locks(struct build *b);
int build_threads(struct build *b); /* by thread, once `least` is known: light ones share a group */
int spread_reserve(struct build *b);                /* room for `total` */
int spread_totals(struct build *b);                 /* of all items, which are in `total` … */
int spread(struct build *b, const struct group *g); /* … or of these; appends touches, ascending by
                                                       node, but for those nobody looks at */
int build_method_rows(struct build *b);
int build_lines(struct build *b);     /* after build_method_rows, before the tree */
int build_own_paths(struct build *b); /* before build_paths */
/* In place of a spread: touches of what is looked at, and items there. */
int build_from_standing(struct build *b);
int build_paths(struct build *b); /* before the spread that build_branches will use */
int build_branches(struct build *b);
int build_inverted(struct build *b);
int build_layout(struct build *b);
int build_sparks(struct build *b); /* once rows are in their final order */

/* Whether the query is about this thread, among others. */
static inline bool build_asks_for(const struct query *q, const struct thread *t) {
    if (q->virtual_id != 0)
        return t->is_virtual && t->java_id == q->virtual_id;
    return q->tid == QUERY_ALL_THREADS || (!t->is_virtual && t->tid == q->tid);
}

/* Whether samples of virtual threads are to be their carriers'. */
static inline bool build_by_carrier(const struct query *q) {
    return q->carriers && q->virtual_id == 0;
}

/* Whether the tree begins at the outermost frame of the query's method. */
static inline bool build_from_method(const struct query *q) {
    return q->tree && q->from_method && q->with_method;
}

/* Whether the call tree's paths are not those of the tree to be built. */
static inline bool build_has_own_paths(const struct query *q) {
    return q->tree && !q->inverted && (q->tiers || build_from_method(q));
}

/* Whether, of everything, the tree has only what is heavy, as the standing sums tell it. */
static inline bool build_is_standing(const struct query *q) {
    return !q->tree || (q->prune_ppm > 0 && !q->tiers);
}

/* Whether the tree is made of touches, and not level by level. */
static inline bool build_is_top_down(const struct query *q) {
    return q->tree && !q->inverted;
}

/* Whether the query is about all seconds, those included that the history no longer has. */
static inline bool build_always(const struct query *q) {
    return q->from_second == 0 && q->to_second == 0;
}

/* A window from the beginning on, whose end is still in the history: what came later is known, and
 * so is everything until then. */
static inline bool build_from_beginning(const struct profile *p, const struct query *q) {
    return q->from_second == 0 && q->to_second != 0 && q->to_second < UINT64_MAX &&
           p->history.gone <= q->to_second + 1;
}

/* Of a window. */
static inline uint64_t build_last_second(const struct query *q) {
    return q->to_second ? q->to_second : UINT64_MAX;
}

/* The path that the tree to be built has for a node, and the paths it has. */
static inline uint32_t build_path_of(const struct build *b, uint32_t node) {
    return b->own_path ? b->own_path[node] : b->p->tree.node[node].path;
}

static inline const struct call_path *build_path(const struct build *b, uint32_t path) {
    return b->own_path ? &b->own_paths[path] : &b->p->tree.path[path];
}

/* Whether a path of the tree to be built is too light for it. `root`: the branch that paths without
 * parent are below. */
static inline bool build_is_pruned(const struct build *b, uint32_t path, uint32_t root) {
    return b->paths[path] < b->least &&
           (root != SNAPSHOT_ROOT || build_path(b, path)->parent != CALL_ROOT);
}

/* One more branch; its index, or SNAPSHOT_ROOT without memory. */
uint32_t branch_add(struct build *b, uint32_t parent, uint32_t method);
/* The first-level branch of a group's thread. SNAPSHOT_ROOT without memory. */
uint32_t branch_of_thread(struct build *b, const struct group *g);

#endif
