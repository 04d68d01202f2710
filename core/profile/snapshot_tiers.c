#include "core/profile/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>

/* The path below `parent` for this frame; made where there is none yet. There are never more of
 * them than nodes, for which there is room. */
static int tier_child(struct build *b, struct index *index, uint32_t parent, uint64_t key,
                      uint64_t *keys, uint32_t *path) {
    uint32_t hash = (uint32_t)hash_pair(index_seed(index), parent, key), pos = hash;
    while ((*path = index_next(index, hash, &pos)) != INDEX_NONE)
        if (b->tier_paths[*path].parent == parent && keys[*path] == key)
            return 0;
    if (index_reserve(index) != 0)
        return -ENOMEM;
    *path = b->tier_path_count++;
    b->tier_paths[*path] = (struct call_path){parent, (uint32_t)key};
    keys[*path] = key;
    index_put(index, hash, *path);
    return 0;
}

/* One pass: parents have smaller ids than their children. */
int build_tiers(struct build *b) {
    const struct call_tree *t = &b->p->tree;
    struct index index = {0};
    uint64_t *keys = malloc(((size_t)t->nodes + 1) * sizeof *keys);
    b->tier_path = malloc(((size_t)t->nodes + 1) * sizeof *b->tier_path);
    b->tier_paths = malloc(((size_t)t->nodes + 1) * sizeof *b->tier_paths);
    int rc = keys && b->tier_path && b->tier_paths ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < t->nodes && rc == 0; i++) {
        const struct call_node *n = &t->node[i];
        uint32_t parent = n->parent == CALL_ROOT ? CALL_ROOT : b->tier_path[n->parent];
        rc = tier_child(b, &index, parent, call_key(n->method, n->tier, 0), keys, &b->tier_path[i]);
    }
    free(keys);
    index_free(&index);
    return rc;
}
