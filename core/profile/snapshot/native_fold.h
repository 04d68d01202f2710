/*
 * Native frames count for their Java callers: where the time of an intrinsic, a library, the VM or
 * the kernel was spent on behalf of a Java method, the stack ends at that method. Frames between
 * Java frames, and those that start a thread, are left out.
 *
 *      before   start_thread, JavaThread::run, Thread.run, Files.write, libc write, vfs_write
 *      after                                   Thread.run, Files.write
 *
 * A stack without Java frames stays as it is, or is one row if a thread of the VM has it and all
 * of it is native:
 * "[GC threads]", "[JIT threads]", "[VM threads]", as methods of the kind METHOD_THREAD.
 *
 * What is left of every stack is kept for the next snapshot. Nodes of the call tree are only added,
 * never removed.
 *
 * Context: pure; the profile's lock held.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_NATIVE_FOLD_H
#define JTOP_PROFILE_SNAPSHOT_NATIVE_FOLD_H

#include "core/profile/table/index.h"
#include "core/profile/table/thread_kind.h"

#include <stdbool.h>
#include <stdint.h>

#define NATIVE_FOLD_JAVA (UINT32_C(1) << 31)
#define NATIVE_FOLD_NONE (NATIVE_FOLD_JAVA - 1) /* far more than any tree has nodes */

/* All zeroes: empty. */
struct native_fold {
    uint32_t *left; /* by node: the last node of its stack that is left, or NATIVE_FOLD_NONE; with
                       NATIVE_FOLD_JAVA if the stack has a Java frame, so that it is folded */
    uint32_t nodes, cap;
    /* The paths of what is left, as in struct call_tree; made by native_fold_paths. */
    uint32_t *path; /* by node; CALL_ROOT for nodes that are folded */
    struct call_path *paths;
    uint32_t path_nodes, path_node_cap; /* of `path` */
    uint32_t path_count, path_cap;
    struct index path_index;
    uint32_t vm[THREAD_KINDS]; /* by kind of thread: 1 + the node of its row; 0: none, because the
                                  tree is full */
    uint8_t *kind;             /* by thread: enum thread_kind, during a query */
    uint32_t kind_cap;
};

struct call_path;
struct profile;

/* Updates p->native_fold for the profile's nodes and threads. The first call adds the three rows to
 * the call tree. 0 or -ENOMEM. */
int native_fold_update(struct profile *p);
/* Updates the paths, after native_fold_update. 0 or -ENOMEM. */
int native_fold_paths(struct profile *p);
void native_fold_free(struct native_fold *f);

/* Whether the node's stack has Java frames, and the node is not one of those that are left. */
static inline bool native_fold_drops(const struct native_fold *f, uint32_t node) {
    return f->left[node] & NATIVE_FOLD_JAVA && f->left[node] != (node | NATIVE_FOLD_JAVA);
}

/* Returns the node above in what is left; NATIVE_FOLD_NONE: there is none. `parent`: the node above
 * in the call tree, which there is. */
static inline uint32_t native_fold_parent(const struct native_fold *f, uint32_t node,
                                          uint32_t parent) {
    bool is_left = (f->left[node] & ~NATIVE_FOLD_JAVA) == node;
    return is_left ? f->left[parent] & ~NATIVE_FOLD_JAVA : parent;
}

/* Whether a query about the stacks with this method can be answered folded: a native method would
 * not be in the answer. */
bool native_fold_has(const struct profile *p, uint32_t method);
/* Returns the node of the row that this method is, or CALL_ROOT. */
uint32_t native_fold_row(const struct profile *p, uint32_t method);

#endif
