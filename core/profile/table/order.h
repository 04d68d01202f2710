/*
 * The order of names: every method's place among all others by (class, name, signature, module,
 * kind). Sorting a snapshot then compares numbers, and equal weights always come out alike.
 *
 * Context: pure; the profile's lock held.
 */
#ifndef JTOP_PROFILE_TABLE_ORDER_H
#define JTOP_PROFILE_TABLE_ORDER_H

#include "core/profile/profile_state.h"

#include <stddef.h>
#include <stdint.h>

/* Brings p->rank up to date with the method table. 0 or -ENOMEM. */
int order_update(struct profile *p);

/* Something to be put in order, smallest key first; `node` and `item` go along. */
struct order_key {
    uint64_t key;
    uint32_t node;
    uint32_t item;
};

/* Stable. `spare` has room for as many as there are. */
void order_keys(struct order_key *k, struct order_key *spare, size_t count);

#endif
