/*
 * A walk over a snapshot's tree in the form that files show: depth first, siblings in byte order of
 * their printed names. Siblings with the same printed name are one frame. So equal profiles give
 * equal files, and each distinct printed stack occurs once.
 *
 * Works on top-down and on inverted trees. A frame's self weight is its weight minus that of its
 * children.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_EXPORT_FRAME_WALK_H
#define JTOP_EXPORT_FRAME_WALK_H

#include "core/export/frame_names.h"
#include "core/profile/snapshot/snapshot.h"

#define FRAME_WALK_SKIP 1 /* returned by `visit`: skip everything below this frame */

struct walked_frame {
    const struct frame_printed *name;
    uint32_t depth; /* 0 for roots */
    uint64_t self, total;
    uint64_t self_samples, total_samples;
    uint32_t method;                         /* of the heaviest of the nodes that form this frame */
    enum frame_tier tier;                    /* the main tier of that node */
    const struct snapshot_node *const *node; /* all nodes that form this frame; NULL with forks */
    size_t nodes;                            /* their number */
};

/* Calls `visit` for every frame, parents first. Returns 0; -ENOMEM; or the negative value with
 * which `visit` ended the walk. */
int frame_walk(const struct snapshot *s, struct frame_names *names,
               int (*visit)(void *arg, const struct walked_frame *f), void *arg);

#endif
