#include "core/export/formats.h"

#include "core/base/clock.h"

#include <time.h>

int64_t formats_time_of_day(const struct export_quality *q, uint64_t last) {
    if (q && q->day_ns && last < INT64_MAX / 2000000000)
        return q->day_ns;
    int64_t day = (int64_t)clock_ns(CLOCK_REALTIME), now = (int64_t)clock_ns(CLOCK_MONOTONIC);
    int64_t newest = last < INT64_MAX / 2000000000 ? (int64_t)(last * 1000000000) : now;
    return newest > now ? day - newest : day - now;
}
