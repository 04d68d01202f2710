/*
 * The time windows of a JVM's profiles. They follow each other without gap or overlap, and end at
 * multiples of their length in the time of day, so that the windows of all JVMs coincide.
 *
 *      samples' clock   ├──────┼─────────┼─────────┼─────     whole seconds
 *                       begin  15:00:15  15:00:30  15:00:45   time of day = + offset
 *
 * Samples arrive late, so a window stays open after its end: until a newer sample has arrived, for
 * at least WINDOW_LATE_MIN_S and at most WINDOW_LATE_MAX_S.
 *
 * Context: pure.
 */
#ifndef JTOP_HTTP_PUSH_PUSH_WINDOW_H
#define JTOP_HTTP_PUSH_PUSH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_LATE_MIN_S 1 /* after its end, if a newer sample has arrived */
#define WINDOW_LATE_MAX_S 3 /* after its end, if none has arrived: the JVM may be idle */

struct window {
    uint64_t every;    /* seconds */
    uint64_t from, to; /* of the open window, seconds of the samples' clock; `to` is excluded */
    int64_t offset;    /* seconds from that clock to the time of day */
    bool first;        /* no window was closed yet: this one includes what is older than `from` */
};

/* `from`: the second in which sampling began. `now_ns` and `day_ns` are read at the same moment. */
void window_begin(struct window *w, uint32_t every, uint64_t from, uint64_t now_ns,
                  uint64_t day_ns);

/* Whether the open window can be closed; `newest` is the second of the newest sample. */
bool window_due(const struct window *w, uint64_t now_ns, uint64_t newest);

/* The JVM or this process ends: the open window ends after `last`. False: it is empty then. */
bool window_cut(struct window *w, uint64_t last);

/* Opens the next window. If the time of day was set, the offset is computed again: the windows jump
 * with it, but have no gap in the samples' clock. */
void window_next(struct window *w, uint64_t now_ns, uint64_t day_ns);

/* Begin and end of the open window in the time of day, ns. */
uint64_t window_from_ns(const struct window *w);
uint64_t window_to_ns(const struct window *w);

#endif
