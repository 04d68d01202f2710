/*
 * Writes unwind tables into the shared mapping in a way that signal handlers in the JVM can read
 * them at any moment: see core/wire/unwind.h. The position of an earlier writer is read once and
 * checked. After that nothing is read back from the mapping; the writer keeps its own position.
 *
 * Context: any thread; one writer per mapping.
 */
#ifndef JTOP_SESSION_DRAIN_UNWIND_AREA_H
#define JTOP_SESSION_DRAIN_UNWIND_AREA_H

#include "core/wire/unwind.h"
#include "symbols/unwind/unwind_table.h"

struct unwind_area {
    struct wire_unwind *wire;
    int fd;              /* rows are written through this if it is not -1 and that is possible */
    uint64_t offset;     /* where `wire` is in that file */
    uint32_t rows;       /* in use */
    uint32_t current;    /* the list that is in use */
    uint32_t generation; /* publications so far */
    uint64_t ready_ns;   /* CLOCK_MONOTONIC; by then no handler reads the other list any more */
};

/* Starts behind what an earlier writer may have left. */
void unwind_area_init(struct unwind_area *a, struct wire_unwind *wire, uint64_t now_ns);

/* Appends rows; *first becomes their position. -ENOSPC: there is not enough room, and nothing was
 * written. */
int unwind_area_add(struct unwind_area *a, const struct unwind_row *rows, size_t count,
                    uint32_t *first);

/* Publishes a list: modules sorted by begin, disjoint, at most WIRE_UNWIND_MODULES_MAX. -EAGAIN:
 * ready_ns is not reached; handlers may still read the place where the list would be written. */
int unwind_area_publish(struct unwind_area *a, const struct wire_unwind_module *list,
                        uint32_t count, uint64_t now_ns);

#endif
