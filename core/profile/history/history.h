/*
 * Files:
 *   event_runs    when each event was sampled, for rates
 *   history       samples of each second, as far back as time and memory allow
 *   lock_history  waits for locks of each second, for queries about a time span or a thread
 *   packed_entries  the samples of an earlier second in a third of their room
 *   timeline      sums of each second by event, and VM pauses, for sparklines
 *
 * The samples of each second, as far back as time and memory allow.
 *
 *      second[first] … second[end - 1]     ascending; seconds without samples take no room
 *         └ entry[]  (node, owner, carrier, state, failed) → weight, count
 *
 * In the newest second, equal entries are merged through an index. A late sample, for an earlier
 * second, is appended. So an entry may occur twice in that second; readers add entries up anyway.
 * Seconds that are some seconds old are packed. A change unpacks them.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_HISTORY_HISTORY_H
#define JTOP_PROFILE_HISTORY_HISTORY_H

#include "core/profile/table/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_entry {
    uint32_t node;
    uint32_t owner;        /* see tally.h */
    uint32_t carrier : 27; /* the platform thread: the owner itself, or the carrier of a
                              virtual thread */
    uint32_t state : 4;    /* < PROFILE_STATES */
    uint32_t failed : 1;   /* the stacks of these samples are incomplete */
    uint32_t count;
    uint64_t weight;
};

struct history_second {
    uint64_t second;
    struct history_entry *entry; /* NULL if they are packed */
    uint32_t count, cap;
    uint8_t *packed;
    size_t packed_bytes;
    uint64_t changed; /* history.changes when an entry may last have changed */
};

struct history {
    struct history_second *second;
    uint32_t first, end, cap;
    uint64_t span; /* number of seconds kept */
    size_t bytes,
        limit; /* of all entries; above the limit, seconds are packed, then the oldest dropped */
    uint64_t changes;   /* number of changes to entries so far */
    uint64_t gone;      /* data before this second is no longer kept */
    struct index index; /* of the entries of the newest second */
    /* NULL, or called before a second's entries are dropped. It must not change the history. */
    void (*dropped)(void *arg, const struct history_second *s);
    void *arg;
};

#define HISTORY_BATCH 256u

/* Reads the entries of a second in batches. */
struct history_cursor {
    const struct history_entry *entry; /* the batch */
    uint32_t count;                    /* entries in it */
    /* internal state */
    uint32_t left;
    const uint8_t *at;
    struct history_entry last, room[HISTORY_BATCH];
};

#define HISTORY_NONE UINT32_MAX
#define HISTORY_CARRIER_MASK ((1u << 27) - 1)

/* 0, or -ENOMEM: nothing is counted. A sample that is too old to be kept counts as success.
 * `place`, if not NULL, becomes the sample's position in its second, valid as long as that second
 * is kept; HISTORY_NONE: the sample was not kept. */
int history_add(struct history *h, uint64_t second, const struct history_entry *e, uint32_t *place);
/* Subtracts *weight and *count from an entry, if it still exists and matches `e`. They become what
 * was really subtracted. */
void history_retract(struct history *h, uint64_t second, uint32_t place,
                     const struct history_entry *e, uint64_t *weight, uint32_t *count);
/* Calls `change` for every entry, perhaps twice. It may change the entry, and returns whether it did.
 * If memory for unpacking runs out, this second and all before it are dropped. */
void history_change(struct history *h, bool (*change)(void *arg, struct history_entry *e),
                    void *arg);
void history_free(struct history *h);

/* Starts at the second's first entry; it must not change meanwhile. Then call history_next for each
 * batch; false: there is none. */
void history_start(struct history_cursor *c, const struct history_second *s);
bool history_next(struct history_cursor *c);

/* Index of the first second that is not before `second`; h->end if there is none. */
uint32_t history_find(const struct history *h, uint64_t second);

#endif
