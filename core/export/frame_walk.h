/*
 * A snapshot's tree as a file shows it: depth first, siblings in byte order of their printed
 * names, and siblings that print alike are one frame. Equal profiles therefore give equal files,
 * and every distinct printed stack comes up once.
 *
 * Works on top-down and on inverted trees; a frame's self is what its children do not account for.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_EXPORT_FRAME_WALK_H
#define JTOP_EXPORT_FRAME_WALK_H

#include "core/export/frame_names.h"
#include "core/profile/snapshot/snapshot.h"

#define FRAME_WALK_SKIP 1 /* from `visit`: nothing below this frame */

struct walked_frame {
    const struct frame_printed *name;
    uint32_t depth; /* 0 for roots */
    uint64_t self, total;
    uint64_t self_samples, total_samples;
    const struct snapshot_node *main;        /* the heaviest of the nodes that are one frame here */
    const struct snapshot_node *const *node; /* all of them … */
    size_t nodes;                            /* … so many */
};

/* Calls `visit` for every frame, parents first. 0; -ENOMEM; or the negative value by which
 * `visit` ended the walk. */
int frame_walk(const struct snapshot *s, struct frame_names *names,
               int (*visit)(void *arg, const struct walked_frame *f), void *arg);

#endif
