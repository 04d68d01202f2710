/*
 * A snapshot's tree as JSON: {"names", "kinds", "nodes": [[name, depth, total, self, samples,
 * tier]…], "cut"}, nodes in preorder.
 *
 * Context: pure.
 */
#ifndef JTOP_HTTP_SERVE_API_API_TREE_H
#define JTOP_HTTP_SERVE_API_API_TREE_H

#include "core/http/serve/api/api_names.h"
#include "core/http/serve/api/json.h"

/* Writes at most `nodes` nodes, the largest ones. -ENOMEM. */
int api_tree_write(struct json *j, const struct snapshot *s, struct api_names *names,
                   uint32_t nodes);

#endif
