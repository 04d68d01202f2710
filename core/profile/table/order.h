/*
 * The order of names: every method's position among all others by (class, name, signature,
 * module, kind). Sorting a snapshot then compares numbers, and rows of equal weight always have
 * the same order.
 *
 * Context: pure; the profile is locked.
 */
#ifndef JTOP_PROFILE_TABLE_ORDER_H
#define JTOP_PROFILE_TABLE_ORDER_H

#include "core/profile/profile_state.h"

#include <stddef.h>
#include <stdint.h>

/* Updates p->rank for new methods of the method table. 0 or -ENOMEM. */
int order_update(struct profile *p);

/* An element to be sorted by key, smallest first; `node` and `item` move with it. */
struct order_key {
    uint64_t key;
    uint32_t node;
    uint32_t item;
};

/* Stable. `spare` must have room for `count` elements. */
void order_keys(struct order_key *k, struct order_key *spare, size_t count);

#endif
