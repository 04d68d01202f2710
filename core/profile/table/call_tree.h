/*
 * Files:
 *   big              allocation of large arrays in huge pages
 *   call_tree        call tree in which each distinct stack is stored once
 *   compact          hash index with small slots, for tables of a million rows
 *   frame_name       printing of a method's name in all styles (-s, -g, -n, dotted)
 *   id_set           set of ids that counts the different ones up to a limit
 *   index            hash index from a hash to row numbers
 *   lock_table       lock waits by class, owner and stack, and chains of waiting threads
 *   method_table     all methods, symbols and classes that can be frames, by id
 *   order            alphabetical rank of all methods, and a stable sort by number
 *   strings          table of strings in which equal text is stored once
 *   tally            table of sums by node or method, thread and event
 *   thread_kind      what a thread works for: the application, GC, JIT, VM; told by its name
 *   thread_of        name and ids of the thread that a counted sample belongs to
 *   thread_table     rows of all threads, by tid or Java id, with their sums
 *   virtual_threads  rows of virtual threads in the thread table, by Java id
 *
 * Stacks, each stored once. A stack becomes the id of its leaf in one of two trees that grow
 * together:
 *
 *      nodes   (parent node, method, tier, line)   every sample belongs to one of these
 *        │  .path
 *        ▼
 *      paths   (parent path, method)               what users see: tiers and lines merged
 *
 * Tier and line belong to the sample, not to the call path, but must be counted per path. They are
 * therefore part of a node's identity, so the count is the node's own and costs nothing per sample.
 * Lines multiply the nodes: a recursion over three call sites has 3^depth stacks. So once the tree
 * is half full, new stacks keep only the line of their leaf.
 *
 * Only leaves have weight. A known stack costs one hash over its frames and one comparison along
 * its nodes. A snapshot computes totals in one pass, because in both trees a parent's id is smaller
 * than its children's.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_CALL_TREE_H
#define JTOP_PROFILE_TABLE_CALL_TREE_H

#include "core/profile/profile.h"
#include "core/profile/table/compact.h"

#define CALL_ROOT UINT32_MAX /* parent of roots */

struct call_node {
    uint32_t parent;
    uint32_t method;
    uint32_t path;
    uint16_t line;
    uint8_t tier;
    uint8_t recursive; /* its method also occurs further up */
};

struct call_path {
    uint32_t parent;
    uint32_t method;
};

struct call_tree {
    struct call_node *node;
    uint32_t nodes, node_cap;
    struct call_path *path;
    uint32_t paths, path_cap;
    uint32_t max_nodes;       /* above this, a stack is stored as `overflow` and its leaf */
    uint32_t overflow;        /* method id; METHOD_NONE until the caller has set it */
    struct index stack_index; /* ids of leaves, and of their callers */
    struct compact node_index, path_index; /* of those that do not come next after their parent */
    uint32_t *seen;                        /* by method id: the last walk in which it occurred */
    uint32_t seen_cap;
    uint32_t walk;
};

/* A frame as a key of the tree. `tier` is below 256. */
static inline uint64_t call_key(uint32_t method, uint32_t tier, uint32_t line) {
    return (uint64_t)line << 40 | (uint64_t)tier << 32 | method;
}

static inline uint64_t call_key_without_line(uint64_t key) {
    return key & ((UINT64_C(1) << 40) - 1);
}

/* Finds or adds the leaf's node. Keys are leaf first, at least one; every method id is below
 * `methods`. The function may remove lines from the keys. 0, or -ENOMEM, or -ENOSPC: the tree is
 * full and the caller must set `overflow` first. */
int call_tree_add(struct call_tree *t, uint64_t *key, uint32_t keys, uint32_t methods,
                  uint32_t *node);
void call_tree_free(struct call_tree *t);

#endif
