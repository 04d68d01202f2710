/*
 * --from and --to: only samples and waits of a part of the stream, counted from its first sample.
 * To the nanosecond, as it looks at records and not at the profile's seconds.
 *
 * The wall clock's repeats stand for a sample that may lie before the window: the first in it
 * becomes a sample of its own.
 *
 * Context: as the decoder that has one.
 */
#ifndef JTOP_DECODE_TIME_WINDOW_H
#define JTOP_DECODE_TIME_WINDOW_H

#include "core/decode/kept_records.h"

#include <stdbool.h>
#include <stdint.h>

struct time_window {
    uint64_t from_ns, to_ns;  /* since first_ns, that and before that; to_ns 0: to the end */
    uint64_t first_ns;        /* of the stream's first sample; 0: the next one is it */
    struct kept_records last; /* samples before the window that may be repeated in it */
};

void time_window_init(struct time_window *w);
void time_window_free(struct time_window *w);

/* The first sample is the earliest one, where the records are known before they are decoded. */
void time_window_begin(struct time_window *w, const void *record);

/* What is to be decoded: the record, or what stands for it until the next call, or NULL. The
 * record's length is checked. */
const void *time_window_pass(struct time_window *w, const void *record);

/* How much of so long a stream it is. */
uint64_t time_window_length(const struct time_window *w, uint64_t elapsed_ns);

static inline bool time_window_is_on(const struct time_window *w) {
    return w->from_ns || w->to_ns;
}

#endif
