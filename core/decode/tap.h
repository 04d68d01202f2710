/*
 * Callbacks for samples when they are counted, for files that grow during sampling.
 *
 * Context: the drain thread calls them with the profile locked. A callback only appends to memory,
 * and must not wait.
 */
#ifndef JTOP_DECODE_TAP_H
#define JTOP_DECODE_TAP_H

#include "core/profile/profile.h"

struct tap_sample {
    const struct profile_place *at;
    uint64_t time_ns, weight;
    uint64_t live_id; /* `gone` reports its end by this; 0: its end is not reported */
    uint32_t count;
    uint8_t event; /* enum wire_event: LIVE and LEAK are not reported */
    uint8_t state; /* enum wire_thread_state */
};

struct decoder_tap {
    void *arg;
    void (*sample)(void *arg, const struct profile *p, const struct tap_sample *s);
    /* Something that was followed is gone. */
    void (*gone)(void *arg, const struct profile *p, const struct tap_sample *s);
    /* A window between two functions has ended. */
    void (*window)(void *arg, uint64_t begin_ns, uint64_t end_ns);
};

#endif
