#include "core/profile/snapshot/snapshot_build.h"

#include "core/base/grow.h"
#include "core/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct children {
    struct order_key *key, *spare; /* node: a branch */
    uint32_t count, key_cap, spare_cap;
};

/* Their order is by total, descending, then by name. Sorting is stable. */
static int sort_children(const struct build *b, struct children *c) {
    if (!grow_array(&c->spare, &c->spare_cap, c->count, sizeof *c->spare))
        return -ENOMEM;
    order_keys(c->key, c->spare, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        c->key[i].key = ~b->branch[c->key[i].node].total;
    order_keys(c->key, c->spare, c->count);
    return 0;
}

/* Computes the sizes, and links each parent's children to a list. Returns the list of roots. */
static uint32_t link_branches(struct build *b) {
    uint32_t roots = SNAPSHOT_ROOT;
    for (uint32_t i = b->branches; i-- > 0;) {
        struct branch *n = &b->branch[i];
        struct branch *parent = n->parent == SNAPSHOT_ROOT ? NULL : &b->branch[n->parent];
        n->size++;
        if (parent)
            parent->size += n->size;
        n->next = parent ? parent->first : roots;
        *(parent ? &parent->first : &roots) = i;
    }
    return roots;
}

/* Assigns positions to the branches of a list and their subtrees, starting with `pos`. */
static int place(struct build *b, uint32_t first, uint32_t pos, struct children *c) {
    if (b->branch[first].next == SNAPSHOT_ROOT) {
        b->branch[first].pos = pos;
        return 0;
    }
    c->count = 0;
    for (uint32_t i = first; i != SNAPSHOT_ROOT; i = b->branch[i].next) {
        if (!GROW(c->key, c->count, c->key_cap))
            return -ENOMEM;
        c->key[c->count++] = (struct order_key){b->p->rank[b->branch[i].method], i, 0};
    }
    if (sort_children(b, c) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < c->count; i++) {
        b->branch[c->key[i].node].pos = pos;
        pos += b->branch[c->key[i].node].size;
    }
    return 0;
}

static int place_all(struct build *b) {
    struct children c = {0};
    uint32_t roots = link_branches(b);
    int rc = roots == SNAPSHOT_ROOT ? 0 : place(b, roots, 0, &c);
    for (uint32_t i = 0; i < b->branches && rc == 0; i++)
        if (b->branch[i].first != SNAPSHOT_ROOT)
            rc = place(b, b->branch[i].first, b->branch[i].pos + 1, &c);
    free(c.key);
    free(c.spare);
    return rc;
}

/* Writes a node without its counters. Its parent has been written before. */
static void start_node(struct build *b, const struct branch *from) {
    struct snapshot_node *n = &b->s->nodes[from->pos];
    *n = (struct snapshot_node){
        .method = from->method, .parent = SNAPSHOT_ROOT, .next = from->pos + from->size};
    if (from->parent != SNAPSHOT_ROOT) {
        n->parent = b->branch[from->parent].pos;
        n->depth = (uint16_t)(b->s->nodes[n->parent].depth + 1);
    }
    if (n->depth >= b->s->max_depth)
        b->s->max_depth = n->depth + 1u;
}

/* Touches have the order in which their branches were made, so a node is started and counted while
 * it is in the cache. */
static void fill_from_touches(struct build *b) {
    struct snapshot_node *out = b->s->nodes;
    uint32_t started = 0;
    for (uint32_t i = 0; i < b->touches; i++) {
        const struct touch *t = &b->touch[i];
        if (t->branch == SNAPSHOT_ROOT)
            continue;
        while (started <= t->branch)
            start_node(b, &b->branch[started++]);
        struct snapshot_node *n = &out[b->branch[t->branch].pos];
        n->total += t->weight;
        n->total_samples += t->count;
        n->tier[t->node == CALL_ROOT ? TIER_NONE : b->p->tree.node[t->node].tier] += t->count;
    }
    for (uint32_t i = 0; i < b->items; i++) {
        if (b->item[i].thread == SNAPSHOT_ROOT)
            continue;
        struct snapshot_node *n = &out[b->branch[b->item[i].thread].pos];
        n->self += b->item[i].weight;
        n->self_samples += b->item[i].count;
    }
}

static void fill_from_built(struct build *b) {
    for (uint32_t i = 0; i < b->branches; i++) {
        struct snapshot_node *n = &b->s->nodes[b->branch[i].pos];
        const struct snapshot_node *counted = &b->built[i];
        start_node(b, &b->branch[i]);
        n->self = counted->self;
        n->self_samples = counted->self_samples;
        n->total = counted->total;
        n->total_samples = counted->total_samples;
        memcpy(n->tier, counted->tier, sizeof n->tier);
    }
}

int build_layout(struct build *b) {
    int rc = place_all(b);
    if (rc != 0)
        return rc;
    b->s->nodes = big_alloc(b->branches, sizeof *b->s->nodes);
    if (!b->s->nodes)
        return -ENOMEM;
    b->s->node_count = b->branches;
    if (b->q->inverted)
        fill_from_built(b);
    else
        fill_from_touches(b);
    for (uint32_t i = 0; i < b->closed_count; i++)
        b->s->nodes[b->branch[b->closed[i]].pos].closed = true;
    b->s->has_closed = b->closed_count > 0;
    return 0;
}

/* Finds the path below `parent` for this frame, or adds it. There are never more paths than nodes,
 * and there is room for that many. */
static int own_child(struct build *b, struct index *index, uint32_t parent, uint64_t key,
                     uint64_t *keys, uint32_t *path) {
    uint32_t hash = (uint32_t)hash_pair(index_seed(index), parent, key), pos = hash;
    while ((*path = index_next(index, hash, &pos)) != INDEX_NONE)
        if (b->own_paths[*path].parent == parent && keys[*path] == key)
            return 0;
    if (index_reserve(index) != 0)
        return -ENOMEM;
    *path = b->own_path_count++;
    b->own_paths[*path] = (struct call_path){parent, (uint32_t)key};
    keys[*path] = key;
    index_put(index, hash, *path);
    return 0;
}

/* Whether the node is above the frame where the tree begins, or folded. */
static bool is_left_out(const struct build *b, uint32_t node) {
    if (b->left && native_fold_drops(&b->p->native_fold, node))
        return true;
    return build_from_method(b->q) && !(b->filter->flags[node] & FILTER_METHOD);
}

static int borrow_paths(struct build *b) {
    struct native_fold *f = &b->p->native_fold;
    int rc = native_fold_paths(b->p);
    b->paths_are_lent = true;
    b->own_path = f->path;
    b->own_paths = f->paths;
    b->own_path_count = f->path_count;
    return rc;
}

/* One pass is enough: parents have smaller ids than their children. */
int build_own_paths(struct build *b) {
    if (b->left && !b->q->tiers && !build_from_method(b->q))
        return borrow_paths(b);
    const struct call_tree *t = &b->p->tree;
    struct index index = {0};
    uint64_t *keys = calloc((size_t)t->nodes + 1, sizeof *keys);
    b->own_path = malloc(((size_t)t->nodes + 1) * sizeof *b->own_path);
    b->own_paths = calloc((size_t)t->nodes + 1, sizeof *b->own_paths);
    int rc = keys && b->own_path && b->own_paths ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < t->nodes && rc == 0; i++) {
        const struct call_node *n = &t->node[i];
        uint32_t above = build_parent(b, i);
        uint32_t parent = above == CALL_ROOT ? CALL_ROOT : b->own_path[above];
        uint32_t tier = b->q->tiers ? n->tier : TIER_NONE;
        b->own_path[i] = CALL_ROOT;
        if (!is_left_out(b, i))
            rc = own_child(b, &index, parent, call_key(n->method, tier, 0), keys, &b->own_path[i]);
    }
    free(keys);
    index_free(&index);
    return rc;
}

uint32_t branch_add(struct build *b, uint32_t parent, uint32_t method) {
    if (!big_grow(&b->branch, &b->branch_cap, b->branches + 1, sizeof *b->branch))
        return SNAPSHOT_ROOT;
    b->branch[b->branches] = (struct branch){.parent = parent,
                                             .method = method,
                                             .first = SNAPSHOT_ROOT,
                                             .next = SNAPSHOT_ROOT,
                                             .pos = CALL_ROOT};
    return b->branches++;
}

/* Makes the branch of a path that occurs for the first time in this group. If there are already too
 * many branches, the parent's branch is used instead. Branches of earlier groups have indexes below
 * `first`. */
static int start_path(struct build *b, uint32_t path, uint32_t root, uint32_t first) {
    const struct call_path *p = build_path(b, path);
    uint32_t above = root;
    if (p->parent != CALL_ROOT)
        above = b->path_branch[p->parent] > first ? b->path_branch[p->parent] - 1 : root;
    uint32_t id = above;
    if (b->branches < BRANCHES_MAX || above == SNAPSHOT_ROOT) {
        id = branch_add(b, above, p->method);
        if (id == SNAPSHOT_ROOT)
            return -ENOMEM;
        b->branch[id].pos = path;
        b->branch[id].total = b->paths[path];
    }
    b->path_branch[path] = id + 1;
    return 0;
}

/* `from` is the group's first touch. Touches have the order of ids: parents first. */
static int branches_of_touches(struct build *b, uint32_t from, uint32_t root) {
    uint32_t first = root == SNAPSHOT_ROOT ? 0 : root;
    int rc = 0;
    for (uint32_t i = from; i < b->touches && rc == 0; i++) {
        struct touch *t = &b->touch[i];
        uint32_t path = build_path_of(b, t->node);
        t->branch = SNAPSHOT_ROOT;
        if (path == CALL_ROOT || build_is_pruned(b, path, root))
            continue;
        if (b->path_branch[path] <= first)
            rc = start_path(b, path, root, first);
        uint32_t id = b->path_branch[path];
        /* For a path that was cut, only the self counts, and that is added with the items. */
        if (rc == 0 && b->branch[id - 1].pos == path)
            t->branch = id - 1;
    }
    return rc;
}

/* Prepares for the next group, and drops touches that are no longer needed. */
static void end_group(struct build *b, uint32_t from) {
    uint32_t kept = from;
    for (uint32_t i = from; i < b->touches; i++) {
        uint32_t path = build_path_of(b, b->touch[i].node);
        if (path != CALL_ROOT)
            b->path_total[path] = 0;
        if (b->touch[i].branch != SNAPSHOT_ROOT)
            b->touch[kept++] = b->touch[i];
    }
    b->touches = kept;
}

/* `first` as in start_path. Leaves without a branch go to `lost`. */
static void items_to_branches(struct build *b, const struct group *g, uint32_t first,
                              uint32_t lost) {
    for (uint32_t i = g->first; i < g->end; i++) {
        uint32_t path = build_path_of(b, b->item[i].node);
        uint32_t id = path == CALL_ROOT ? 0 : b->path_branch[path];
        b->item[i].thread = id > first ? id - 1 : lost;
    }
}

static struct total sum_of(const struct build *b, const struct group *g) {
    struct total sum = {0, 0};
    for (uint32_t i = g->first; i < g->end; i++) {
        sum.weight += b->item[i].weight;
        sum.count += b->item[i].count;
    }
    return sum;
}

/* Adds a thread's stacks below the thread's branch, unless all of them would be pruned. */
static int thread_branches(struct build *b, const struct group *g) {
    uint32_t from = b->touches, root = branch_of_thread(b, g);
    struct total sum = sum_of(b, g);
    if (root == SNAPSHOT_ROOT)
        return -ENOMEM;
    bool whole = b->touched < TOUCHES_MAX, opens = branch_opens(b, g, root, sum.weight);
    int rc = opens && whole && sum.weight >= b->least ? spread(b, g) : 0;
    if (rc == 0)
        rc = branches_of_touches(b, from, root);
    b->touched += b->touches - from;
    end_group(b, from);
    if (rc != 0 || !big_grow(&b->touch, &b->touch_cap, b->touches + 1, sizeof *b->touch))
        return -ENOMEM;
    items_to_branches(b, g, root, whole || !opens ? SNAPSHOT_ROOT : root);
    b->branch[root].total = sum.weight;
    b->touch[b->touches++] = (struct touch){CALL_ROOT, root, sum.weight, sum.count};
    return 0;
}

int build_paths(struct build *b) {
    uint32_t paths = (b->own_path ? b->own_path_count : b->p->tree.paths) + 1;
    uint32_t branch_cap = b->path_cap, total_cap = b->path_cap;
    if (!big_grow(&b->path_branch, &branch_cap, paths, sizeof *b->path_branch) ||
        !big_grow(&b->path_total, &total_cap, paths, sizeof *b->path_total))
        return -ENOMEM;
    b->path_cap = branch_cap;
    memset(b->path_branch, 0, paths * sizeof *b->path_branch);
    b->want_paths = !b->standing || b->q->by_thread;
    b->paths = b->want_paths ? b->path_total : b->standing->path_total;
    if (b->want_paths)
        memset(b->path_total, 0, paths * sizeof *b->path_total);
    return 0;
}

/* Adds a touch and an item for a node. An inverted tree already has all items. */
static int take_node(struct build *b, uint32_t node) {
    const struct total *t = &b->standing->total[node];
    if (!big_grow(&b->touch, &b->touch_cap, b->touches + 1, sizeof *b->touch) ||
        !big_grow(&b->item, &b->item_cap, b->items + 1, sizeof *b->item))
        return -ENOMEM;
    b->touch[b->touches++] = (struct touch){node, SNAPSHOT_ROOT, t->weight, t->count};
    if (b->q->tree && b->q->inverted)
        return 0;
    uint32_t owner = owner_of(0, (uint32_t)b->q->event);
    struct tally *leaves = b->standing->from ? &b->standing->by_leaf : &b->p->by_node;
    const struct tally_entry *e = tally_find(leaves, node, owner);
    if (e && (e->weight | e->count))
        b->item[b->items++] = (struct item){0, node, e->weight, e->count};
    return 0;
}

int build_from_standing(struct build *b) {
    const struct standing *s = b->standing;
    const struct call_node *node = b->p->tree.node;
    bool tree = build_is_top_down(b->q);
    int rc = 0;
    for (uint32_t n = 0; n < s->nodes && rc == 0; n++) {
        bool wanted = (tree && !build_is_pruned(b, node[n].path, SNAPSHOT_ROOT)) ||
                      (b->q->lines && node[n].method == b->q->lines_of);
        if (wanted && (s->total[n].weight | s->total[n].count))
            rc = take_node(b, n);
    }
    return rc;
}

int build_branches(struct build *b) {
    if (!b->q->by_thread) {
        struct group all = {0, 0, b->items};
        int rc = branches_of_touches(b, 0, SNAPSHOT_ROOT);
        if (rc == 0)
            items_to_branches(b, &all, 0, SNAPSHOT_ROOT);
        return rc;
    }
    b->touches = 0; /* the touches of the method rows are not split by thread */
    b->want_touches = true;
    int rc = build_paths(b);
    for (uint32_t i = 0; i < b->groups && rc == 0; i++)
        rc = thread_branches(b, &b->group[i]);
    return rc != 0 ? rc : order_update(b->p); /* names of threads are methods, too, and
                                                 may be new */
}
