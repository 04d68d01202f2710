/*
 * Only samples and waits of a part of the stream: between two times of the clock, and within that,
 * for --from and --to, counted from the first sample. It is exact to the nanosecond, because it
 * checks records and not the profile's seconds.
 *
 * A repeat of the wall clock stands for a sample that may lie before the window. The first one
 * inside the window becomes a sample of its own.
 *
 * Context: as the decoder that has one.
 */
#ifndef JTOP_DECODE_TIME_WINDOW_H
#define JTOP_DECODE_TIME_WINDOW_H

#include "core/decode/kept_records.h"

#include <stdbool.h>
#include <stdint.h>

struct time_window {
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; it ends before end_ns; 0: no such limit */
    uint64_t from_ns, to_ns;   /* since first_ns; it ends before to_ns; 0: at the stream's end */
    uint64_t first_ns;         /* of the first sample between begin_ns and end_ns; 0: no sample
                                 yet */
    struct kept_records last;  /* samples before the window that may be repeated in it */
};

void time_window_init(struct time_window *w);
void time_window_free(struct time_window *w);

/* To be called with all records where they are known before they are decoded: the earliest sample
 * is then the first one. */
void time_window_begin(struct time_window *w, const void *record);

/* Returns what is to be decoded: the record, or another one in its place, which is valid until the
 * next call. NULL: nothing. Checks the record's length. */
const void *time_window_pass(struct time_window *w, const void *record);

/* The length of the window in a stream of `elapsed_ns`. */
uint64_t time_window_length(const struct time_window *w, uint64_t elapsed_ns);

/* The time, moved into the window if it is outside. */
uint64_t time_window_clamp(const struct time_window *w, uint64_t time_ns);

static inline bool time_window_is_on(const struct time_window *w) {
    return w->from_ns || w->to_ns || w->begin_ns || w->end_ns;
}

/* Whether the time is between begin_ns and end_ns. */
static inline bool time_window_is_open(const struct time_window *w, uint64_t time_ns) {
    return time_ns >= w->begin_ns && (!w->end_ns || time_ns < w->end_ns);
}

#endif
