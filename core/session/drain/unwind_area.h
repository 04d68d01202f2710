/*
 * Writing unwind tables into the shared mapping, so that handlers in the JVM can read them at any
 * moment: see core/wire/unwind.h. Where an earlier writer stopped is read once, and checked; after
 * that nothing in there is read back, we know ourselves where we are.
 *
 * Context: any thread; one writer per mapping.
 */
#ifndef JTOP_SESSION_DRAIN_UNWIND_AREA_H
#define JTOP_SESSION_DRAIN_UNWIND_AREA_H

#include "core/wire/unwind.h"
#include "symbols/unwind/unwind_table.h"

struct unwind_area {
    struct wire_unwind *wire;
    uint32_t rows;       /* in use */
    uint32_t current;    /* the list in force */
    uint32_t generation; /* publications so far */
    uint64_t ready_ns;   /* CLOCK_MONOTONIC; handlers have left the other list by then */
};

/* Begins behind what an earlier writer may have left. */
void unwind_area_init(struct unwind_area *a, struct wire_unwind *wire, uint64_t now_ns);

/* Appends rows; *first is where they are. -ENOSPC: there is no room for them all, nothing was
 * written. */
int unwind_area_add(struct unwind_area *a, const struct unwind_row *rows, size_t count,
                    uint32_t *first);

/* Puts a list in force: modules sorted by begin, disjoint, WIRE_UNWIND_MODULES_MAX at most.
 * -EAGAIN: not before ready_ns, handlers may still read the place where it would be written. */
int unwind_area_publish(struct unwind_area *a, const struct wire_unwind_module *list,
                        uint32_t count, uint64_t now_ns);

#endif
