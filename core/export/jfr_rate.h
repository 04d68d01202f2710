/*
 * Limits how many events of a category a flight recording takes in one second of the samples'
 * clock. Unused events are carried over to the next second, up to one extra second's worth.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_JFR_RATE_H
#define JTOP_EXPORT_JFR_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum jfr_category {
    JFR_CATEGORY_CPU, /* also every other event that is written as execution samples */
    JFR_CATEGORY_ALLOC,
    JFR_CATEGORY_LOCK,
    JFR_CATEGORY_WALL,
    JFR_CATEGORY_NATIVEMEM,
    JFR_CATEGORY_NATIVELOCK,
    JFR_CATEGORY_TRACE,
    JFR_CATEGORIES
};

/* 0: no limit; otherwise the allowed number of events per second plus 1. */
struct jfr_limits {
    uint32_t of[JFR_CATEGORIES];
};

struct jfr_rate {
    struct jfr_limits limits;
    struct {
        uint64_t second, left;
    } budget[JFR_CATEGORIES];
    uint64_t refused; /* events that exceeded the limit */
};

/* Starts again because another event follows, from its first second on: it gets a full budget. */
void jfr_rate_anew(struct jfr_rate *r);

/* Takes one event from the budget; false: the budget is used up. */
bool jfr_rate_takes(struct jfr_rate *r, enum jfr_category c, uint64_t time_ns);

#endif
