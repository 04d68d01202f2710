#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>

/* The path below `parent` for this frame; made where there is none yet. There are never more of
 * them than nodes, for which there is room. */
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

/* Whether the node is above the frame the tree begins at. */
static bool is_above(const struct build *b, uint32_t node) {
    return build_from_method(b->q) && !(b->filter->flags[node] & FILTER_METHOD);
}

/* One pass: parents have smaller ids than their children. */
int build_own_paths(struct build *b) {
    const struct call_tree *t = &b->p->tree;
    struct index index = {0};
    uint64_t *keys = calloc((size_t)t->nodes + 1, sizeof *keys);
    b->own_path = malloc(((size_t)t->nodes + 1) * sizeof *b->own_path);
    b->own_paths = calloc((size_t)t->nodes + 1, sizeof *b->own_paths);
    int rc = keys && b->own_path && b->own_paths ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < t->nodes && rc == 0; i++) {
        const struct call_node *n = &t->node[i];
        uint32_t parent = n->parent == CALL_ROOT ? CALL_ROOT : b->own_path[n->parent];
        uint32_t tier = b->q->tiers ? n->tier : TIER_NONE;
        b->own_path[i] = CALL_ROOT;
        if (!is_above(b, i))
            rc = own_child(b, &index, parent, call_key(n->method, tier, 0), keys, &b->own_path[i]);
    }
    free(keys);
    index_free(&index);
    return rc;
}
