/*
 * The tree of a query's stacks in short. Of the nodes of the call tree, only those are kept at which
 * a stack ends or stacks part: forks. All frames between a fork and the one above it have the same
 * weight. So the memory is that of the number of stacks, however deep they are; the frames between
 * are read from the call tree.
 *
 *      call tree        forks
 *         a              (ab)
 *         b              /  \
 *        / \          (cd)  (efg)
 *       c   e
 *       d   f
 *           g
 *
 * Frames in different tiers or lines are different nodes here; who shows forks adds them up.
 *
 * Context: pure. The profile must be locked. Its call tree only grows, and no node of it changes: the
 * lock may be given up in between, and the answer stays the same.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_FORKS_H
#define JTOP_PROFILE_SNAPSHOT_FORKS_H

#include "core/profile/snapshot/snapshot.h"

#define FORK_NONE UINT32_MAX

struct snapshot_fork {
    uint64_t total, total_samples; /* of its frames: each has the same */
    uint32_t top, node;            /* in the call tree: its outermost and its innermost frame */
    uint32_t first, next; /* its first child, and its next sibling; FORK_NONE: there is none */
};

/* A frame of a fork. */
struct fork_frame {
    uint32_t method;
    enum frame_tier tier;
};

/* The frame at a node of the call tree. */
struct fork_frame fork_frame(const struct snapshot *s, uint32_t node);
/* Returns the node above, within the same fork. `node` is not the fork's top. */
uint32_t fork_above(const struct snapshot *s, uint32_t node);
/* Position of a method in the order of names. */
uint32_t fork_rank(const struct snapshot *s, uint32_t method);

#endif
