/*
 * The frames of whole call paths as a JFR file has them, leaf first. A path ends like the path of its
 * parent. So sizes are kept by node, and the bytes of what a path has in common with the last one are
 * used again.
 *
 * Context: as export.h. The profile with the tree is locked during a call; between two calls the tree
 * may grow.
 */
#ifndef JTOP_EXPORT_JFR_JFR_PATHS_H
#define JTOP_EXPORT_JFR_JFR_PATHS_H

#include "core/export/jfr/jfr_write.h"
#include "core/profile/table/call_tree.h"

struct jfr_paths {
    uint32_t *size; /* by node: number of frames << JFR_PATH_BITS | bytes; 0: not known */
    uint32_t nodes;
    uint32_t frames;                       /* of the last path */
    uint32_t node[PROFILE_STACK_MAX + 1u]; /* its nodes, by the number of frames from there on */
    char bytes[PROFILE_STACK_MAX * JFR_FRAME_BYTES]; /* that path, at the end */
};
#define JFR_PATH_BITS 16

struct jfr_path {
    uint32_t frames;
    size_t bytes;
};

/* Measures the path from a node to the root; a node outside the tree has an empty path. Calls `learn`
 * for the methods of all paths, at least once for each. -ENOMEM, or what `learn` returned; -E2BIG: it
 * has more than PROFILE_STACK_MAX frames. */
int jfr_path_measure(struct jfr_paths *s, const struct call_tree *t, uint32_t node,
                     int (*learn)(void *arg, uint32_t method), void *arg, struct jfr_path *out);
/* Returns the bytes of a path that was measured, valid until the next call of a function of this file.
 * The type of a frame is type[kind[method]][tier]. */
const char *jfr_path_put(struct jfr_paths *s, const struct call_tree *t, uint32_t node,
                         const uint8_t *kind, uint8_t (*type)[TIERS]);
void jfr_paths_free(struct jfr_paths *s);

#endif
