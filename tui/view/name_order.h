/*
 * All methods sorted by name. The order is kept and updated when new methods come, so a table of
 * methods can be sorted by name without formatting a hundred thousand names per second.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_NAME_ORDER_H
#define JTOP_TUI_VIEW_NAME_ORDER_H

#include "tui/model/model.h"

struct name_order {
    uint32_t *id;   /* method ids, sorted by name */
    uint32_t *rank; /* place in `id`, by method id */
    uint32_t count;
};

/* Adds the methods that are new since the last call. -ENOMEM: only the earlier ones are known. */
int name_order_update(struct name_order *o, const struct model *m);
void name_order_free(struct name_order *o);

/* Returns a method's place. Unknown methods come after all others. */
uint32_t name_order_rank(const struct name_order *o, uint32_t method);

#endif
