/*
 * Numbers as short text, in a fixed width.
 *
 * Context: pure. Each function fills `out` and returns it.
 */
#ifndef JTOP_BASE_FORMAT_H
#define JTOP_BASE_FORMAT_H

#include <stdint.h>

struct format {
    char s[32];
};

const char *format_bytes(struct format *f, uint64_t bytes);   /* 0B 1.2K 123M; 4 columns */
const char *format_count(struct format *f, uint64_t n);       /* 1,234,567 */
const char *format_short_count(struct format *f, uint64_t n); /* 12345 1.2M; 6 columns */
const char *format_clock(struct format *f, uint64_t ms);      /* 01:02:03, 3d 01:02:03 */
const char *format_time(struct format *f, int64_t ns); /* since 1970, as local time: 14:57:02 */
const char *format_age(struct format *f, uint64_t ms); /* 59s 12m03 1h02m 3d04h */
const char *format_percent(struct format *f, double percent);  /* 12.3; 5 columns up to 9999 */
const char *format_interval(struct format *f, uint64_t value); /* of ns: 10ms 500us 1s */
const char *format_duration(struct format *f, uint64_t ns);    /* 12.3ms 1.23s 12m03; 6 columns */

/* By the unit of event_kind_unit: "ns" as a duration, "bytes", or else a count; 6 columns. */
const char *format_weight(struct format *f, const char *unit, uint64_t weight);
/* The same for an engine's interval: "10ms", "512K", "1000". */
const char *format_step(struct format *f, const char *unit, uint64_t interval);

/* "123M/512M". A JVM that has had no collection yet does not report the used bytes: "-/512M". */
const char *format_heap(struct format *f, uint64_t used, uint64_t max);

/* part / whole * 100; 0 if `whole` is 0. */
double percent_of(uint64_t part, uint64_t whole);

/* Half the 95 % interval of a share measured by samples, in percentage points: 1.96 standard errors
 * of the binomial distribution. */
double percent_error(uint64_t part, uint64_t samples);

#endif
