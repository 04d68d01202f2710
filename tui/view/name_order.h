/*
 * All methods in the order of their names, kept while more come: a table of methods is sorted by
 * name without writing a hundred thousand names a second.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_NAME_ORDER_H
#define JTOP_TUI_VIEW_NAME_ORDER_H

#include "tui/model/model.h"

struct name_order {
    uint32_t *id;   /* of methods, by name */
    uint32_t *rank; /* by id */
    uint32_t count;
};

/* Takes in the methods that are new since. -ENOMEM: it knows those it knew. */
int name_order_update(struct name_order *o, const struct model *m);
void name_order_free(struct name_order *o);

/* Of a method not known: behind all others. */
uint32_t name_order_rank(const struct name_order *o, uint32_t method);

#endif
