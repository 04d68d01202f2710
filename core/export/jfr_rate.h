/*
 * How many events of a category a flight recording takes in a second of the samples' clock. What is
 * not used is kept for the next second, at most as much again.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_JFR_RATE_H
#define JTOP_EXPORT_JFR_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum jfr_category {
    JFR_CATEGORY_CPU, /* and what else is an execution sample */
    JFR_CATEGORY_ALLOC,
    JFR_CATEGORY_LOCK,
    JFR_CATEGORY_WALL,
    JFR_CATEGORY_NATIVEMEM,
    JFR_CATEGORY_NATIVELOCK,
    JFR_CATEGORY_TRACE,
    JFR_CATEGORIES
};

/* 0: no limit; else one more than the events of a second. */
struct jfr_limits {
    uint32_t of[JFR_CATEGORIES];
};

struct jfr_rate {
    struct jfr_limits limits;
    struct {
        uint64_t second, left;
    } budget[JFR_CATEGORIES];
    uint64_t refused; /* events that were too many */
};

/* Other events come next, from the first second on: the budget is theirs. */
void jfr_rate_anew(struct jfr_rate *r);

/* Takes one event of the budget; false: there is none left. */
bool jfr_rate_takes(struct jfr_rate *r, enum jfr_category c, uint64_t time_ns);

#endif
