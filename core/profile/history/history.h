/*
 * Files:
 *   history   samples of each second, as far back as time and memory allow
 *   timeline  sums of each second by event, and VM pauses, for sparklines
 *
 * What happened second by second, as far back as time and memory allow.
 *
 *      second[first] … second[end - 1]     ascending; seconds without samples take no room
 *         └ entry[]  (node, owner, carrier, state, failed) → weight, count
 *
 * In the newest second equal entries are merged through an index. A sample that comes late, for a
 * second already past, is appended: an entry may occur twice there, readers add them up anyway.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_HISTORY_HISTORY_H
#define JTOP_PROFILE_HISTORY_HISTORY_H

#include "core/profile/table/index.h"

#include <stddef.h>
#include <stdint.h>

struct history_entry {
    uint32_t node;
    uint32_t owner;        /* see tally.h */
    uint32_t carrier : 27; /* the platform thread: the owner's own, or that of a virtual thread */
    uint32_t state : 4;    /* < PROFILE_STATES */
    uint32_t failed : 1;   /* these samples' stacks are incomplete */
    uint32_t count;
    uint64_t weight;
};

struct history_second {
    uint64_t second;
    struct history_entry *entry;
    uint32_t count, cap;
};

struct history {
    struct history_second *second;
    uint32_t first, end, cap;
    uint64_t span;       /* seconds kept */
    size_t bytes, limit; /* of all entries; beyond the limit the oldest seconds go */
    uint64_t gone;       /* what is before this second is no longer kept */
    struct index index;  /* of the newest second's entries */
};

#define HISTORY_NONE UINT32_MAX
#define HISTORY_CARRIER_MASK ((1u << 27) - 1)

/* 0, or -ENOMEM and nothing is counted. What is too old to be kept counts as success. `place`, if
 * not NULL, is where in its second it was counted, for as long as that second is kept;
 * HISTORY_NONE: it was not kept. */
int history_add(struct history *h, uint64_t second, const struct history_entry *e, uint32_t *place);
/* Takes so much back from that entry, if it is still there and about what `e` is about. *weight and
 * *count become what was taken. */
void history_retract(struct history *h, uint64_t second, uint32_t place,
                     const struct history_entry *e, uint64_t *weight, uint32_t *count);
void history_free(struct history *h);

/* Index of the first second that is not before `second`, h->end when there is none. */
uint32_t history_find(const struct history *h, uint64_t second);

#endif
