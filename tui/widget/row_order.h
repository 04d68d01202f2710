/*
 * Sorting of rows by their keys.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_WIDGET_ROW_ORDER_H
#define JTOP_TUI_WIDGET_ROW_ORDER_H

#include <stdint.h>

#define ROW_NO_PARENT UINT32_MAX

struct row_key {
    uint64_t key;
    uint32_t row;
};

/* Sorts by key, smallest first; rows with equal keys keep their order. Linear: one pass for each
 * eleven bits in which keys differ. -ENOMEM: the order is unchanged. */
int row_order_sort(struct row_key *keys, uint32_t count);

/* Moves each row with a parent directly behind that parent, in the given order. `parent` is by row,
 * and < count; there is only one level. -ENOMEM: the order is unchanged. */
int row_order_nest(uint32_t *order, uint32_t count, const uint32_t *parent);

#endif
