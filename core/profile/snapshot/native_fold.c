#include "core/profile/snapshot/native_fold.h"

#include "core/base/grow.h"
#include "core/profile/profile_state.h"

#include <errno.h>
#include <stdio.h>

/* Adds the root that stands for all stacks without Java frames of this kind's threads. */
static int add_row(struct profile *p, enum thread_kind kind) {
    char name[32];
    snprintf(name, sizeof name, "[%s]", thread_kind_title[kind]);
    uint32_t method = method_table_intern(p->methods, METHOD_THREAD, "", name, "", ""), node;
    if (method == METHOD_NONE)
        return -ENOMEM;
    uint64_t key = call_key(method, TIER_NONE, 0);
    int rc = call_tree_add(&p->tree, &key, 1, method_table_count(p->methods), &node);
    /* A full tree gives its node for all that it cannot keep: these stacks then stay as they are. */
    const struct call_node *n = rc == 0 ? &p->tree.node[node] : NULL;
    if (n && n->parent == CALL_ROOT && n->method == method)
        p->native_fold.vm[kind] = node + 1;
    return rc == -ENOSPC ? 0 : rc;
}

/* Whether a frame of this kind is code that others call, so that it counts for its caller. */
static bool is_native(enum method_kind kind) {
    return kind == METHOD_NATIVE || kind == METHOD_CPP || kind == METHOD_KERNEL ||
           kind == METHOD_STUB;
}

/* Returns what is left of a stack that ends with this node. Frames of unknown methods stand for Java
 * frames if native ones are above them; those at the root are reasons and marks. A class is kept
 * below Java; it is the leaf, so a second one is not from a JVM. */
static uint32_t fold_one(const struct call_node *n, enum method_kind kind, uint32_t node,
                         uint32_t above, bool native_above) {
    bool below = above & NATIVE_FOLD_JAVA;
    if (is_native(kind) || (kind == METHOD_CLASS && (!below || n->recursive)))
        return above;
    bool java = below || native_above || kind == METHOD_JAVA || kind == METHOD_COMPILING;
    return node | (java ? NATIVE_FOLD_JAVA : 0);
}

/* A parent's id is smaller than its children's, so one pass is enough. */
static int fold_nodes(struct native_fold *f, const struct profile *p) {
    const struct call_tree *t = &p->tree;
    if (!grow_array(&f->left, &f->cap, t->nodes, sizeof *f->left))
        return -ENOMEM;
    for (uint32_t i = f->nodes; i < t->nodes; i++) {
        const struct call_node *n = &t->node[i];
        bool root = n->parent == CALL_ROOT;
        uint32_t above = root ? NATIVE_FOLD_NONE : f->left[n->parent];
        /* without natives, what is left of the stack above is all of it */
        bool native_above = !root && (above & ~NATIVE_FOLD_JAVA) != n->parent;
        enum method_kind kind = method_table_get(p->methods, n->method)->kind;
        f->left[i] = fold_one(n, kind, i, above, native_above);
    }
    f->nodes = t->nodes;
    return 0;
}

/* Threads may be renamed, and rows are used again, so this is done for each query. */
static int find_kinds(struct native_fold *f, const struct thread_table *t) {
    if (!grow_array(&f->kind, &f->kind_cap, t->count, sizeof *f->kind))
        return -ENOMEM;
    for (uint32_t i = 0; i < t->count; i++)
        f->kind[i] = (uint8_t)(t->thread[i].is_virtual ? THREAD_APPLICATION
                                                       : thread_kind(t->thread[i].name));
    return 0;
}

int native_fold_update(struct profile *p) {
    struct native_fold *f = &p->native_fold;
    int rc = 0;
    for (int k = THREAD_APPLICATION + 1; k < THREAD_KINDS && rc == 0; k++)
        if (!f->vm[k])
            rc = add_row(p, (enum thread_kind)k);
    if (rc == 0)
        rc = fold_nodes(f, p);
    return rc == 0 ? find_kinds(f, &p->threads) : rc;
}

/* Finds the path below `parent` for this method, or adds it. */
static int child_path(struct native_fold *f, uint32_t parent, uint32_t method, uint32_t *path) {
    struct index *x = &f->path_index;
    uint32_t hash = (uint32_t)hash_pair(index_seed(x), parent, method), pos = hash;
    while ((*path = index_next(x, hash, &pos)) != INDEX_NONE)
        if (f->paths[*path].parent == parent && f->paths[*path].method == method)
            return 0;
    if (index_reserve(x) != 0 || !GROW(f->paths, f->path_count, f->path_cap))
        return -ENOMEM;
    *path = f->path_count++;
    f->paths[*path] = (struct call_path){parent, method};
    index_put(x, hash, *path);
    return 0;
}

int native_fold_paths(struct profile *p) {
    struct native_fold *f = &p->native_fold;
    if (!grow_array(&f->path, &f->path_node_cap, f->nodes, sizeof *f->path))
        return -ENOMEM;
    for (; f->path_nodes < f->nodes; f->path_nodes++) {
        uint32_t i = f->path_nodes, parent = p->tree.node[i].parent, above = CALL_ROOT;
        f->path[i] = CALL_ROOT;
        if (native_fold_drops(f, i))
            continue;
        if (parent != CALL_ROOT)
            above = native_fold_parent(f, i, parent);
        bool root = parent == CALL_ROOT || above == NATIVE_FOLD_NONE;
        if (child_path(f, root ? CALL_ROOT : f->path[above], p->tree.node[i].method, &f->path[i]) !=
            0)
            return -ENOMEM;
    }
    return 0;
}

void native_fold_free(struct native_fold *f) {
    free(f->left);
    free(f->path);
    free(f->paths);
    index_free(&f->path_index);
    free(f->kind);
}

uint32_t native_fold_row(const struct profile *p, uint32_t method) {
    for (int k = 0; k < THREAD_KINDS; k++) {
        uint32_t node = p->native_fold.vm[k];
        if (node && p->tree.node[node - 1].method == method)
            return node - 1;
    }
    return CALL_ROOT;
}

bool native_fold_has(const struct profile *p, uint32_t method) {
    return !is_native(method_table_get(p->methods, method)->kind);
}
