/*
 * The walk of frame_walk.h over a snapshot that has forks. Frames, sums and order are the same as
 * with nodes of the same query.
 *
 * Context: as export.h; the profile is locked, but `visit` may give up the lock while it runs.
 */
#ifndef JTOP_EXPORT_FORK_WALK_H
#define JTOP_EXPORT_FORK_WALK_H

#include "core/export/frame_walk.h"

/* As frame_walk. */
int fork_walk(const struct snapshot *s, struct frame_names *names,
              int (*visit)(void *arg, const struct walked_frame *f), void *arg);

#endif
