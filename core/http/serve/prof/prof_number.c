#include "core/http/serve/prof/prof_number.h"

#include <errno.h>
#include <stddef.h>
#include <strings.h>

const struct prof_measure prof_seconds = {
    .form = "seconds, or a number with s, m or h",
    .unit = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}},
};

const struct prof_measure prof_time = {
    .form = "nanoseconds, or a number with ns, us, ms or s",
    .unit = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}},
};

const struct prof_measure prof_bytes = {
    .form = "bytes, or a number with k, m or g",
    .unit = {{"", 1}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}},
};

const struct prof_measure prof_count = {
    .form = "a count, or a number with k, m or g",
    .unit = {{"", 1}, {"k", 1000}, {"m", 1000000}, {"g", 1000000000}},
};

int prof_number(const struct prof_measure *m, const char *text, uint64_t *out) {
    uint64_t n = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*c - '0'), &n))
            return -ERANGE;
    if (c == text)
        return -EINVAL;
    for (const struct prof_unit *u = m->unit; u->suffix; u++)
        if (strcasecmp(u->suffix, c) == 0)
            return __builtin_mul_overflow(n, u->factor, out) ? -ERANGE : 0;
    return -EINVAL;
}
