/*
 * Numbers with units as they stand in a URL: "10", "10s", "500us", "8m".
 *
 * Context: any thread, pure.
 */
#ifndef JTOP_HTTP_SERVE_PROF_PROF_NUMBER_H
#define JTOP_HTTP_SERVE_PROF_PROF_NUMBER_H

#include <stdint.h>

struct prof_unit {
    const char *suffix; /* "": what a bare number is */
    uint64_t factor;
};

struct prof_measure {
    const char *form;         /* what may be written: "seconds, or a number with s, m or h" */
    struct prof_unit unit[8]; /* ends with a NULL suffix */
};

extern const struct prof_measure prof_seconds; /* result: seconds */
extern const struct prof_measure prof_time;    /* nanoseconds */
extern const struct prof_measure prof_bytes;
extern const struct prof_measure prof_count; /* k is 1000 */

/* -EINVAL: no such number or unit, no sign, space or fraction; -ERANGE: 64 bits do not hold it. */
int prof_number(const struct prof_measure *m, const char *text, uint64_t *out);

#endif
