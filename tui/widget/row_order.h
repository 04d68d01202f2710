/*
 * Rows in the order of their keys.
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

/* Smallest key first; equal ones stay as they are. Linear: a pass for each eleven bits in which
 * keys differ. -ENOMEM: they stay as they are. */
int row_order_sort(struct row_key *keys, uint32_t count);

/* Moves rows, in the order given, directly behind their parent (by row, < count; of one level).
 * -ENOMEM: likewise. */
int row_order_nest(uint32_t *order, uint32_t count, const uint32_t *parent);

#endif
