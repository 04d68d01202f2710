/*
 * Keeps the weight over time of each method and thread, in the cells that snapshot_build.h's
 * build_sparks writes for the rows of an answer. A cell that is complete rarely changes, so a screen
 * that asks each second counts only the cell that is new. Cells are numbered from time 0; cell n is
 * in column n % cells. A cell is counted again when the history changed one of its seconds
 * (history_second.changed), or no longer has one.
 *
 * Context: pure; the profile is locked.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_SPARKS_H
#define JTOP_PROFILE_SNAPSHOT_SPARKS_H

#include <stdbool.h>
#include <stdint.h>

/* The samples that are counted, and the length of the cells. */
struct sparks_key {
    int event;
    bool carriers; /* as in struct query */
    uint32_t tid;  /* as in struct query */
    uint64_t virtual_id;
    uint64_t filter; /* filter.serial; 0: none */
    uint64_t seconds;
    uint32_t cells;
};

struct sparks_cell {
    bool valid;
    uint64_t number;
    uint32_t seconds; /* number of its seconds that the history had */
    uint64_t changed; /* the latest history_second.changed of these */
};

struct sparks {
    struct sparks_key key;
    uint64_t asked; /* serial number of the last query for it */
    struct sparks_cell *cell;
    /* Self weights: [method * cells + column], [thread's index * cells + column] */
    uint64_t *method, *thread;
    uint32_t methods, method_cap, threads, thread_cap;
};

/* The number of kept ones: a screen asks about all threads and about one row of its table. */
enum { SPARKS = 2 };

void sparks_free(struct sparks *k);

#endif
