#include "core/export/jfr_rate.h"

#include <string.h>

#define NS UINT64_C(1000000000)

void jfr_rate_anew(struct jfr_rate *r) {
    memset(r->budget, 0, sizeof r->budget);
}

bool jfr_rate_takes(struct jfr_rate *r, enum jfr_category c, uint64_t time_ns) {
    if (!r->limits.of[c])
        return true;
    uint64_t limit = r->limits.of[c] - 1, second = time_ns / NS + 1;
    if (!r->budget[c].second)
        r->budget[c].left = limit;
    else if (second > r->budget[c].second)
        r->budget[c].left = second > r->budget[c].second + 1 || r->budget[c].left >= limit
                                ? 2 * limit
                                : r->budget[c].left + limit;
    if (second > r->budget[c].second)
        r->budget[c].second = second;
    if (!r->budget[c].left) {
        r->refused++;
        return false;
    }
    r->budget[c].left--;
    return true;
}
