/*
 * Looking on as samples are counted: for files that grow while sampling goes on.
 *
 * Context: the drain thread calls, with the profile locked: what is called appends to memory, and
 * waits for nothing.
 */
#ifndef JTOP_DECODE_TAP_H
#define JTOP_DECODE_TAP_H

#include "core/profile/profile.h"

struct tap_sample {
    const struct profile_place *at;
    uint64_t time_ns, weight;
    uint64_t live_id; /* what tells of its end; 0: nothing will */
    uint32_t count;
    uint8_t event; /* enum wire_event: LIVE and LEAK are not told */
    uint8_t state; /* enum wire_thread_state */
};

struct decoder_tap {
    void *arg;
    void (*sample)(void *arg, const struct profile *p, const struct tap_sample *s);
    /* What was followed is gone. */
    void (*gone)(void *arg, const struct profile *p, const struct tap_sample *s);
    /* A window between two functions has ended. */
    void (*window)(void *arg, uint64_t begin_ns, uint64_t end_ns);
};

#endif
