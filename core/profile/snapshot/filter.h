/*
 * Which stacks a query keeps, by what is on them: a text, a method, a package, patterns.
 *
 * One byte a node of the call tree says which of these were met from the root down to it. Nodes
 * and methods only come, so the bytes are kept from one snapshot to the next and only new ones are
 * looked at, until another question is asked.
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
    FILTER_EXCLUDED = 16
};

struct filter {
    char *text, *package; /* what was asked for; "" for nothing; NULL: nothing is kept yet */
    char *patterns;       /* all of them, one behind the other */
    bool with_method;
    bool gave_up; /* with some names: see core/base/expression.h */
    uint32_t method;
    uint8_t mask, want; /* samples are kept whose leaf's flags are these */
    uint8_t *verdict;   /* by method */
    uint32_t methods, method_cap;
    uint8_t *flags; /* by node: FILTER_…, of all frames from the root on */
    uint32_t nodes, node_cap;
};

struct profile;
struct query;

/* Brings a filter, all zeroes at first, up to date with a profile and a query; *out is the filter,
 * or NULL when everything is kept. 0 or -ENOMEM. */
int filter_nodes(struct filter *f, const struct profile *p, const struct query *q,
                 const struct filter **out);
void filter_free(struct filter *f);

static inline bool filter_keeps(const struct filter *f, uint32_t node) {
    return (f->flags[node] & f->mask) == f->want;
}

#endif
