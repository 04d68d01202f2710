/*
 * Keeps the weight over time of methods and threads, in the cells that snapshot_build.h's build_sparks
 * writes for the rows of an answer. A cell that is complete rarely changes, so a screen that asks each
 * second counts only the cell that is new. Cells are numbered from time 0; cell n is in column
 * n % cells. A cell is counted again when the history changed one of its seconds
 * (history_second.changed), or no longer has one.
 *
 * Context: pure; the profile is locked.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_SPARKS_H
#define JTOP_PROFILE_SNAPSHOT_SPARKS_H

#include <stdbool.h>
#include <stdint.h>

struct filter;

/* The samples that are counted, and the length of the cells. */
struct sparks_key {
    int event;
    bool carriers; /* as in struct query */
    uint32_t tid;  /* as in struct query */
    uint64_t virtual_id;
    const struct filter *filter; /* one of the profile's; NULL: none */
    uint64_t filter_serial;
    uint8_t filter_want;
    uint64_t seconds;
    uint32_t cells;
};

struct sparks_cell {
    bool valid;
    uint64_t number;
    uint32_t seconds; /* number of its seconds that the history had */
    uint64_t changed; /* the latest history_second.changed of these */
};

/* The weights of what has any: rows of cells, for methods or for threads. */
struct sparks_rows {
    uint32_t *row_of; /* by id: 1 + its row; 0: none */
    uint32_t ids, id_cap;
    uint64_t *weight; /* [row * cells + column] */
    uint32_t rows, row_cap;
};

struct sparks {
    struct sparks_key key;
    uint64_t asked; /* serial number of the last query for it */
    struct sparks_cell *cell;
    struct sparks_rows methods, threads; /* self weights; of threads, the index is the id */
    bool failed;                         /* no memory */
};

/* The number of kept ones: a screen asks about all threads and about one row of its table. */
enum { SPARKS = 2 };

void sparks_free(struct sparks *k);

#endif
