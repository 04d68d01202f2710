/*
 * The table of the threads view: its rows, and the contents of its cells (threads_table).
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
    struct name_order methods; /* made when the user first sorts by top method */
    uint32_t *rank;            /* of each row, by name; NULL: not sorted by name */
    unsigned generation;       /* of the answer that is sorted; 0: none */
    uint64_t spark_most;       /* of that answer */
    const struct model *model;
};

struct table_rows thread_table_rows(struct thread_table *v);

/* Returns the thread of a row; of a pool its heaviest. */
const struct model_thread *thread_table_thread(const struct thread_table *v, uint32_t row);
/* Returns the pool of a row. NULL: the row is a thread. */
const struct thread_pool *thread_table_pool(const struct thread_table *v, uint32_t row);

/* Returns a thread's identity. Numbers are used again, so it differs for an ended thread and a
 * living one with the same number. It stays the same if a virtual thread changes its carrier. */
uint64_t thread_table_item(const struct model_thread *t);

/* Returns the highest cell of all rows' weight over time. */
uint64_t thread_table_highest_cell(const struct thread_table *v);

#endif
