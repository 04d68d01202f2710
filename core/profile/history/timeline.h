/*
 * Sums of each second, for sparklines and strips: the samples of each event, and how long the VM
 * was stopped. They are kept in addition to the history, so that a line across the screen does not
 * need a pass over the history.
 *
 * Second s is in slot s % slots, until a later second replaces it.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_HISTORY_TIMELINE_H
#define JTOP_PROFILE_HISTORY_TIMELINE_H

#include "core/profile/profile.h"

#define NS_PER_SECOND UINT64_C(1000000000)

struct timeline_second {
    uint64_t second;
    uint64_t weight[PROFILE_EVENTS], samples[PROFILE_EVENTS];
    uint64_t paused_ns[2];
};

struct timeline {
    struct timeline_second *slot;
    uint32_t slots;
};

/* Allocates slots for `span` seconds, up to a maximum. 0 or -ENOMEM. */
int timeline_open(struct timeline *t, uint64_t span);
void timeline_count(struct timeline *t, uint64_t second, uint32_t event, uint64_t weight,
                    uint64_t samples);
/* Subtracts at most what was counted. */
void timeline_retract(struct timeline *t, uint64_t second, uint32_t event, uint64_t weight,
                      uint64_t samples);
void timeline_free(struct timeline *t);

#endif
