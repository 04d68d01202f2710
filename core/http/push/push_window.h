/*
 * The times that a JVM's profiles are of: they follow each other without gap or overlap, and end at
 * multiples of their length in the time of day, so that those of all JVMs fall together.
 *
 *      samples' clock   ├──────┼─────────┼─────────┼─────     whole seconds
 *                       begin  15:00:15  15:00:30  15:00:45   time of day = + offset
 *
 * A window is closed some time after its end, since samples arrive late: as soon as later ones are
 * there, or when there has been time enough for that.
 *
 * Context: pure.
 */
#ifndef JTOP_HTTP_PUSH_PUSH_WINDOW_H
#define JTOP_HTTP_PUSH_PUSH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_LATE_MIN_S 1 /* after its end, where later samples are there already … */
#define WINDOW_LATE_MAX_S 3 /* … and where they are not: the JVM may be idle */

struct window {
    uint64_t every;    /* seconds */
    uint64_t from, to; /* of the open one, seconds of the samples' clock; `to` is outside */
    int64_t offset;    /* seconds from that clock to the time of day */
    bool first;        /* nothing was closed yet: what is older than `from` is in it too */
};

/* `from`: the second in which sampling began; both clocks in ns, read at the same moment. */
void window_begin(struct window *w, uint32_t every, uint64_t from, uint64_t now_ns,
                  uint64_t day_ns);

/* Whether the open one can be closed; `newest` is the second of the newest sample. */
bool window_due(const struct window *w, uint64_t now_ns, uint64_t newest);

/* The end of the JVM, or ours: the open one ends behind that second. False: it has none. */
bool window_cut(struct window *w, uint64_t last);

/* Opens the next. The time of day is taken from the clock again where somebody has set it: then
 * windows jump with it, and in the samples' clock there is no gap. */
void window_next(struct window *w, uint64_t now_ns, uint64_t day_ns);

/* In the time of day, ns. */
uint64_t window_from_ns(const struct window *w);
uint64_t window_to_ns(const struct window *w);

#endif
