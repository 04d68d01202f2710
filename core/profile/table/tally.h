/*
 * Sums that are kept forever: (what, owner) → weight, samples, failed samples.
 *
 * `what` is a node or a method; `owner` combines a thread and an event in one number.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_TALLY_H
#define JTOP_PROFILE_TABLE_TALLY_H

#include "core/profile/profile.h"
#include "core/profile/table/compact.h"

#define OWNER_THREADS_MAX (UINT32_MAX / PROFILE_EVENTS)

static inline uint32_t owner_of(uint32_t thread, uint32_t event) {
    return thread * PROFILE_EVENTS + event;
}

static inline uint32_t owner_thread(uint32_t owner) {
    return owner / PROFILE_EVENTS;
}

static inline int owner_event(uint32_t owner) {
    return (int)(owner % PROFILE_EVENTS);
}

struct tally_entry {
    uint32_t what;
    uint32_t owner;
    uint64_t weight, count, failed;
};

struct tally {
    struct tally_entry *entry; /* in the order in which they were added */
    uint32_t count, cap;
    struct compact index;
};

/* Returns the entry; adds one with zeroes if there is none. The pointer is valid until the next
 * call for this tally. NULL: no memory, or the tally already has `max` entries. */
struct tally_entry *tally_entry(struct tally *t, uint32_t what, uint32_t owner, uint32_t max);
/* Returns the entry; NULL if there is none. */
struct tally_entry *tally_find(struct tally *t, uint32_t what, uint32_t owner);
void tally_free(struct tally *t);

#endif
