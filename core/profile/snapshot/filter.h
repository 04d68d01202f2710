/*
 * Decides which stacks a query keeps, by what they contain: a text, a method, a package, patterns.
 *
 * One byte per node of the call tree records which of these occur between the root and the node.
 * Nodes and methods are only added, never removed, so the bytes are kept for the next snapshot and
 * only new nodes are checked, until the query's filter changes.
 *
 * Context: pure; the profile's lock held.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_FILTER_H
#define JTOP_PROFILE_SNAPSHOT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FILTER_TEXT = 1,
    FILTER_METHOD = 2,
    FILTER_PACKAGE = 4,
    FILTER_INCLUDED = 8,
    FILTER_EXCLUDED = 16,
    FILTER_ALSO = 32
};

struct filter {
    char *text, *package; /* the current filter; "": none; NULL: nothing is stored yet */
    char *patterns;       /* all patterns, one after the other */
    uint64_t serial;      /* rises when the filter changes; a leading '!' makes no difference */
    uint64_t used;        /* of several filters, the one used last has the greatest number */
    bool with_method, with_also;
    bool gave_up; /* for some names, see core/base/expression.h */
    uint32_t method, also;
    uint8_t mask, want; /* a sample is kept if its leaf's flags, masked with `mask`, equal `want` */
    uint8_t *verdict;   /* by method */
    uint32_t methods, method_cap;
    uint8_t *flags; /* by node: FILTER_… of all frames from the root to it */
    uint32_t nodes, node_cap;
};

struct call_tree;
struct profile;
struct query;

/* Updates a filter for a profile's tree and a query; a new filter must be all zeroes, and is used for
 * this tree only. *out becomes the filter, or NULL if everything is kept. 0 or -ENOMEM. */
int filter_nodes(struct filter *f, const struct profile *p, const struct call_tree *t,
                 const struct query *q, const struct filter **out);
/* Does the same for the call tree with one of the filters that the profile keeps. */
int filter_of_tree(struct profile *p, const struct query *q, const struct filter **out);
void filter_free(struct filter *f);

static inline bool filter_keeps(const struct filter *f, uint32_t node) {
    return (f->flags[node] & f->mask) == f->want;
}

#endif
