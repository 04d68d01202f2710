#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Makes the branch of a path that is met for the first time in this group. Its parent stands in
 * when there can be no more branches. Branches of earlier groups are those below `first`. */
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

/* `from` is the group's first touch. Touches come in the order of ids: parents first. */
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
        /* Of a path that was cut, only the self counts, and that comes with the items. */
        if (rc == 0 && b->branch[id - 1].pos == path)
            t->branch = id - 1;
    }
    return rc;
}

/* Makes ready for the next group, and drops touches that nobody needs any more. */
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

/* `first` as above. Leaves without a branch go to `lost`. */
static void items_to_branches(struct build *b, const struct group *g, uint32_t first,
                              uint32_t lost) {
    for (uint32_t i = g->first; i < g->end; i++) {
        uint32_t id = b->path_branch[build_path_of(b, b->item[i].node)];
        b->item[i].thread = id > first ? id - 1 : lost;
    }
}

/* A thread's stacks under the thread. */
static int thread_branches(struct build *b, const struct group *g) {
    uint32_t from = b->touches, root = branch_of_thread(b, g);
    struct total sum = {0, 0};
    bool whole = b->touched < TOUCHES_MAX;
    int rc = root == SNAPSHOT_ROOT ? -ENOMEM : 0;
    if (rc == 0 && whole)
        rc = spread(b, g);
    if (rc == 0)
        rc = branches_of_touches(b, from, root);
    b->touched += b->touches - from;
    end_group(b, from);
    if (rc != 0 || !big_grow(&b->touch, &b->touch_cap, b->touches + 1, sizeof *b->touch))
        return -ENOMEM;
    items_to_branches(b, g, root, whole ? SNAPSHOT_ROOT : root);
    for (uint32_t i = g->first; i < g->end; i++) {
        sum.weight += b->item[i].weight;
        sum.count += b->item[i].count;
    }
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
    b->want_paths = !b->standing;
    b->paths = b->standing ? b->standing->path_total : b->path_total;
    if (b->want_paths)
        memset(b->path_total, 0, paths * sizeof *b->path_total);
    return 0;
}

/* An inverted tree has all items already. */
static int take_node(struct build *b, uint32_t node) {
    const struct total *t = &b->standing->total[node];
    if (!big_grow(&b->touch, &b->touch_cap, b->touches + 1, sizeof *b->touch) ||
        !big_grow(&b->item, &b->item_cap, b->items + 1, sizeof *b->item))
        return -ENOMEM;
    b->touch[b->touches++] = (struct touch){node, SNAPSHOT_ROOT, t->weight, t->count};
    if (b->q->tree && b->q->inverted)
        return 0;
    uint32_t owner = owner_of(0, (uint32_t)b->q->event);
    const struct tally_entry *e = tally_find(&b->p->by_node, node, owner);
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
    b->touches = 0; /* those of the method rows know no threads */
    b->want_touches = true;
    int rc = build_paths(b);
    for (uint32_t i = 0; i < b->groups && rc == 0; i++)
        rc = thread_branches(b, &b->group[i]);
    return rc != 0 ? rc : order_update(b->p); /* thread names are methods too, and may be new */
}
