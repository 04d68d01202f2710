#include "core/profile/table/call_tree.h"

#include "core/base/grow.h"

#include <errno.h>
#include <string.h>

static uint32_t hash_stack(struct call_tree *t, const uint64_t *key, uint32_t keys) {
    uint64_t seed = index_seed(&t->stack_index), h = seed ^ keys;
    uint32_t i = 0;
    for (; i + 2 <= keys; i += 2)
        h = hash_pair(h, key[i], key[i + 1] ^ seed);
    if (i < keys)
        h = hash_pair(h, key[i], seed);
    return (uint32_t)(h >> 32);
}

static inline uint64_t key_of(const struct call_node *n) {
    return call_key(n->method, n->tier, n->line);
}

/* Whether `node` is the leaf of exactly this stack. */
static bool is_stack(const struct call_tree *t, uint32_t node, const uint64_t *key, uint32_t keys) {
    for (uint32_t i = 0; i < keys; i++) {
        if (node == CALL_ROOT)
            return false;
        const struct call_node *n = &t->node[node];
        if (key_of(n) != key[i])
            return false;
        node = n->parent;
    }
    return node == CALL_ROOT;
}

static bool find_stack(const struct call_tree *t, uint32_t hash, const uint64_t *key, uint32_t keys,
                       uint32_t *node) {
    uint32_t pos = hash;
    while ((*node = index_next(&t->stack_index, hash, &pos)) != INDEX_NONE)
        if (is_stack(t, *node, key, keys))
            return true;
    return false;
}

static uint32_t hash_path(void *tree, uint32_t path) {
    struct call_tree *t = tree;
    return (uint32_t)hash_pair(compact_seed(&t->path_index), t->path[path].parent,
                               t->path[path].method);
}

static uint32_t hash_node(void *tree, uint32_t node) {
    struct call_tree *t = tree;
    return (uint32_t)hash_pair(compact_seed(&t->node_index), t->node[node].parent,
                               key_of(&t->node[node]));
}

/* Most rows are the child that was added next after their parent, because a new stack adds its
 * frames in order. They are found without an index, and are not in it. */
static inline bool comes_next(uint32_t parent, uint32_t id) {
    return parent != CALL_ROOT && id == parent + 1;
}

static bool next_is_path(const struct call_tree *t, uint32_t parent, uint32_t method) {
    uint32_t id = parent + 1;
    return comes_next(parent, id) && id < t->paths && t->path[id].parent == parent &&
           t->path[id].method == method;
}

static bool next_is_node(const struct call_tree *t, uint32_t parent, uint64_t key) {
    uint32_t id = parent + 1;
    return comes_next(parent, id) && id < t->nodes && t->node[id].parent == parent &&
           key_of(&t->node[id]) == key;
}

static int child_path(struct call_tree *t, uint32_t parent, uint32_t method, uint32_t *path) {
    if (next_is_path(t, parent, method)) {
        *path = parent + 1;
        return 0;
    }
    uint32_t hash = (uint32_t)hash_pair(compact_seed(&t->path_index), parent, method), pos = hash,
             id;
    while ((id = compact_next(&t->path_index, hash, &pos)) != INDEX_NONE) {
        if (t->path[id].parent == parent && t->path[id].method == method) {
            *path = id;
            return 0;
        }
    }
    if (t->paths > COMPACT_ROWS_MAX || compact_reserve(&t->path_index, hash_path, t) != 0 ||
        !GROW(t->path, t->paths, t->path_cap))
        return -ENOMEM;
    t->path[t->paths] = (struct call_path){parent, method};
    if (!comes_next(parent, t->paths))
        compact_put(&t->path_index, hash, t->paths);
    *path = t->paths++;
    return 0;
}

static int child_node(struct call_tree *t, uint32_t parent, uint64_t key, bool recursive,
                      uint32_t *node) {
    if (next_is_node(t, parent, key)) {
        *node = parent + 1;
        return 0;
    }
    uint32_t method = (uint32_t)key;
    uint32_t hash = (uint32_t)hash_pair(compact_seed(&t->node_index), parent, key), pos = hash, id;
    while ((id = compact_next(&t->node_index, hash, &pos)) != INDEX_NONE) {
        const struct call_node *n = &t->node[id];
        if (n->parent == parent && key_of(n) == key) {
            *node = id;
            return 0;
        }
    }
    uint32_t path;
    int rc = child_path(t, parent == CALL_ROOT ? CALL_ROOT : t->node[parent].path, method, &path);
    if (rc != 0)
        return rc;
    if (t->nodes > COMPACT_ROWS_MAX || compact_reserve(&t->node_index, hash_node, t) != 0 ||
        !GROW(t->node, t->nodes, t->node_cap))
        return -ENOMEM;
    t->node[t->nodes] = (struct call_node){.parent = parent,
                                           .method = method,
                                           .path = path,
                                           .line = (uint16_t)(key >> 40),
                                           .tier = (uint8_t)(key >> 32),
                                           .recursive = recursive};
    if (!comes_next(parent, t->nodes))
        compact_put(&t->node_index, hash, t->nodes);
    *node = t->nodes++;
    return 0;
}

/* Makes room to mark `methods` ids, and starts a walk in which no id is marked. */
static int start_walk(struct call_tree *t, uint32_t methods) {
    uint32_t old = t->seen_cap;
    if (!grow_array(&t->seen, &t->seen_cap, methods, sizeof *t->seen))
        return -ENOMEM;
    memset(t->seen + old, 0, (size_t)(t->seen_cap - old) * sizeof *t->seen);
    if (++t->walk == 0) {
        memset(t->seen, 0, (size_t)t->seen_cap * sizeof *t->seen);
        t->walk = 1;
    }
    return 0;
}

/* Goes from the root down and adds missing nodes. If memory runs out, the nodes added so far stay:
 * nodes without weight are never shown. */
static int descend(struct call_tree *t, const uint64_t *key, uint32_t keys, uint32_t methods,
                   uint32_t *node) {
    int rc = start_walk(t, methods);
    uint32_t at = CALL_ROOT;
    for (uint32_t i = keys; rc == 0 && i-- > 0;) {
        uint32_t method = (uint32_t)key[i];
        rc = child_node(t, at, key[i], t->seen[method] == t->walk, &at);
        t->seen[method] = t->walk;
    }
    *node = at;
    return rc;
}

/* Because lines make different leaves, the same callers have often been on a stack before. They are
 * then found at once, because the index also contains the callers of every stack as a stack. */
static int add_stack(struct call_tree *t, const uint64_t *key, uint32_t keys, uint32_t methods,
                     uint32_t *node) {
    uint32_t callers, hash = hash_stack(t, key + 1, keys - 1);
    if (index_reserve(&t->stack_index) != 0)
        return -ENOMEM;
    if (keys > 1 && find_stack(t, hash, key + 1, keys - 1, &callers)) {
        bool recursive = false;
        for (uint32_t i = 1; i < keys; i++)
            recursive |= (uint32_t)key[i] == (uint32_t)key[0];
        return child_node(t, callers, key[0], recursive, node);
    }
    int rc = descend(t, key, keys, methods, node);
    if (rc == 0 && keys > 1)
        index_put(&t->stack_index, hash, t->node[*node].parent);
    return rc;
}

/* If the tree is full, a reserve is used to keep at least the leaf. If the reserve is full, too,
 * not even the leaf is kept. */
static int add_overflow(struct call_tree *t, uint64_t leaf, uint32_t methods, uint32_t *node) {
    uint64_t key[2] = {leaf, call_key(t->overflow, TIER_NONE, 0)};
    if (t->overflow == METHOD_NONE)
        return -ENOSPC;
    if (t->nodes >= t->max_nodes + t->max_nodes / 16)
        return descend(t, key + 1, 1, methods, node);
    return descend(t, key, 2, methods, node);
}

/* Removes the lines of the callers. Returns whether there were any. */
static bool drop_lines(uint64_t *key, uint32_t keys) {
    uint64_t dropped = 0;
    for (uint32_t i = 1; i < keys; i++) {
        dropped |= key[i] ^ call_key_without_line(key[i]);
        key[i] = call_key_without_line(key[i]);
    }
    return dropped != 0;
}

int call_tree_add(struct call_tree *t, uint64_t *key, uint32_t keys, uint32_t methods,
                  uint32_t *node) {
    uint32_t hash = hash_stack(t, key, keys);
    if (find_stack(t, hash, key, keys, node))
        return 0;
    if (t->nodes >= t->max_nodes / 2 && drop_lines(key, keys)) {
        hash = hash_stack(t, key, keys);
        if (find_stack(t, hash, key, keys, node))
            return 0;
    }
    if (t->nodes >= t->max_nodes || keys > t->max_nodes - t->nodes)
        return add_overflow(t, key[0], methods, node);
    int rc = add_stack(t, key, keys, methods, node);
    if (rc == 0 && index_reserve(&t->stack_index) != 0)
        return -ENOMEM;
    if (rc == 0)
        index_put(&t->stack_index, hash, *node);
    return rc;
}

void call_tree_free(struct call_tree *t) {
    free(t->node);
    free(t->path);
    free(t->seen);
    index_free(&t->stack_index);
    compact_free(&t->node_index);
    compact_free(&t->path_index);
    *t = (struct call_tree){0};
}
