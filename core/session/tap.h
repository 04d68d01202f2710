/*
 * Looking on as samples are counted: for files that grow while sampling goes on.
 *
 * Context: the drain thread calls, with the profile locked: what is called appends to memory, and
 * waits for nothing.
 */
#ifndef JTOP_SESSION_TAP_H
#define JTOP_SESSION_TAP_H

#include "core/session/session.h"

struct tap_sample {
    const struct profile_place *at;
    uint64_t time_ns, weight;
    uint64_t live_id; /* what tells of its end; 0: nothing will */
    uint32_t count;
    uint8_t event; /* enum wire_event: LIVE and LEAK are not told */
    uint8_t state; /* enum wire_thread_state */
};

struct session_tap {
    void *arg;
    void (*sample)(void *arg, const struct profile *p, const struct tap_sample *s);
    /* What was followed is gone. */
    void (*gone)(void *arg, const struct profile *p, const struct tap_sample *s);
    /* A window between two functions has ended. */
    void (*window)(void *arg, uint64_t begin_ns, uint64_t end_ns);
};

/* From the next sample on; what was counted before is in the profile. The caller has locked that, so
 * that nothing is missed and nothing met twice. `tap` must live until it is taken away again with
 * NULL, after which it is called no more. One at a time. */
void session_tap(struct session *s, const struct session_tap *tap);

#endif
