/*
 * Numbers with units, as users type them: "10", "10s", "1m", "500us", "8m".
 *
 * Context: frontend only, pure.
 */
#ifndef JTOP_BASE_QUANTITY_H
#define JTOP_BASE_QUANTITY_H

#include <stdint.h>

struct quantity {
    const char *noun; /* "a duration": for messages */
    const char *form; /* what may be typed: "seconds, or with ms, s, m, h" */
    struct {
        const char *suffix; /* compared without case; the row "" is for a number without a unit */
        uint64_t factor;
    } unit[9];                       /* ends with a NULL suffix */
    uint64_t min, max;               /* in the result's unit */
    const char *min_text, *max_text; /* `min` and `max` as text for people */
};

extern const struct quantity quantity_duration;  /* milliseconds; without a unit: seconds */
extern const struct quantity quantity_since;     /* the same, from 0 */
extern const struct quantity quantity_processes; /* the same; 0: never */
extern const struct quantity quantity_refresh;   /* milliseconds; without a unit: milliseconds */
extern const struct quantity quantity_history;   /* seconds */
extern const struct quantity quantity_interval;  /* nanoseconds, at least 1000 */
extern const struct quantity quantity_wait;      /* nanoseconds, from 0 */
extern const struct quantity quantity_bytes;     /* bytes, from 0 */
extern const struct quantity quantity_events;    /* a count, from 1; k is 1000 */
extern const struct quantity quantity_size;      /* bytes, up to 1g */
extern const struct quantity quantity_chunk;     /* bytes, from 1m */
extern const struct quantity quantity_memory;    /* bytes, from 16m */
extern const struct quantity quantity_count;     /* 1 … 2^31-1 */
extern const struct quantity quantity_cpu;       /* 0 … 65534 */

/* -EINVAL: not a number, or an unknown unit. -ERANGE: below min or above max (also if 64 bits
 * are too few). No sign, space or fraction is allowed. */
int quantity_parse(const struct quantity *q, const char *text, uint64_t *out);

#endif
