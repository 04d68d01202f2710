/*
 * A snapshot's tree as JSON: {"names", "kinds", "nodes": [[name, depth, total, self, samples,
 * tier]…], "cut"}, nodes in preorder. In comparisons a node has four more numbers: its share
 * before, in percent; the change in percentage points; flags; and the shade of its colour
 * (frame_change_shade). In a tree by site a node ends with the name of the method of the JDK that the
 * site calls, or null.
 *
 * Context: pure.
 */
#ifndef JTOP_HTTP_SERVE_API_API_TREE_H
#define JTOP_HTTP_SERVE_API_API_TREE_H

#include "core/http/serve/api/api_names.h"
#include "core/http/serve/api/json.h"
#include "core/profile/snapshot/diff.h"

#define API_TREE_CHANCE 1 /* flag: chance explains the change, or there are too few samples */
#define API_TREE_NEW 2    /* flag: there was no such node before */

/* Writes at most `nodes` nodes, the largest ones. `diff` is that of the snapshot; NULL: nothing is
 * compared. -ENOMEM. */
int api_tree_write(struct json *j, const struct snapshot *s, const struct diff *diff,
                   struct api_names *names, uint32_t nodes);

#endif
