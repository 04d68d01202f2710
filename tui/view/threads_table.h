/*
 * The table of the threads view: its rows, and what is in their cells (threads_table).
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_THREADS_TABLE_H
#define JTOP_TUI_VIEW_THREADS_TABLE_H

#include "tui/model/thread_pools.h"
#include "tui/view/name_order.h"
#include "tui/view/table.h"

struct thread_table {
    struct table table;
    struct thread_pools pools;
    struct name_order methods; /* taken once somebody sorts by top method */
    uint32_t *rank;            /* of each row, by name; NULL: nobody sorts by it */
    unsigned generation;       /* of the answer that is sorted; 0: none */
    uint64_t spark_most;       /* of that answer */
    const struct model *model;
};

struct table_rows thread_table_rows(struct thread_table *v);

/* Of a row; of a pool its heaviest. */
const struct model_thread *thread_table_thread(const struct thread_table *v, uint32_t row);
/* NULL: the row is a thread. */
const struct thread_pool *thread_table_pool(const struct thread_table *v, uint32_t row);

/* A number may be used again: an ended thread and a living one of the same number differ. A virtual
 * thread changes its carrier. */
uint64_t thread_table_item(const struct model_thread *t);

/* Of all rows' weight over time. */
uint64_t thread_table_highest_cell(const struct thread_table *v);

#endif
