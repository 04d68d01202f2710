#include "core/base/quantity.h"

#include <errno.h>
#include <strings.h>

const struct quantity quantity_duration = {
    .noun = "a duration",
    .form = "seconds, or a number with ms, s, m, h or d",
    .unit = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}},
    .min = 1,
    .max = UINT64_C(86400000) * 365,
    .min_text = "1ms",
    .max_text = "365d",
};

const struct quantity quantity_processes = {
    .noun = "an interval",
    .form = "seconds, or a number with ms, s, m, h or d; 0: never",
    .unit = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}},
    .min = 0,
    .max = UINT64_C(86400000) * 365,
    .min_text = "0",
    .max_text = "365d",
};

const struct quantity quantity_since = {
    .noun = "a time since the first sample",
    .form = "seconds, or a number with ms, s, m, h or d",
    .unit = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}},
    .min = 0,
    .max = UINT64_C(86400000) * 365,
    .min_text = "0",
    .max_text = "365d",
};

const struct quantity quantity_refresh = {
    .noun = "a time between refreshes",
    .form = "milliseconds, or a number with ms or s",
    .unit = {{"", 1}, {"ms", 1}, {"s", 1000}},
    .min = 50,
    .max = 3600000,
    .min_text = "50ms",
    .max_text = "3600s",
};

const struct quantity quantity_history = {
    .noun = "a length of history",
    .form = "seconds, or a number with s, m or h",
    .unit = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}},
    .min = 10,
    .max = 86400,
    .min_text = "10s",
    .max_text = "24h",
};

const struct quantity quantity_interval = {
    .noun = "an interval",
    .form = "nanoseconds, or a number with ns, us, ms or s",
    .unit = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}},
    .min = 1000,
    .max = UINT64_C(3600000000000),
    .min_text = "1us",
    .max_text = "3600s",
};

const struct quantity quantity_wait = {
    .noun = "a time",
    .form = "nanoseconds, or a number with ns, us, ms or s",
    .unit = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}},
    .min = 0,
    .max = UINT64_C(3600000000000),
    .min_text = "0",
    .max_text = "3600s",
};

const struct quantity quantity_bytes = {
    .noun = "a number of bytes",
    .form = "bytes, or a number with k, m or g",
    .unit = {{"", 1}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}},
    .min = 0,
    .max = UINT64_C(1) << 40,
    .min_text = "0",
    .max_text = "1024g",
};

const struct quantity quantity_events = {
    .noun = "a number of events",
    .form = "a number, also with k, m or g; a time counts in nanoseconds: 1ms is 1000000",
    .unit = {{"", 1},
             {"k", 1000},
             {"m", 1000000},
             {"g", 1000000000},
             {"ns", 1},
             {"us", 1000},
             {"ms", 1000000},
             {"s", 1000000000}},
    .min = 1,
    .max = UINT64_C(1000000000000),
    .min_text = "1",
    .max_text = "1000g",
};

const struct quantity quantity_chunk = {
    .noun = "a size",
    .form = "bytes, or a number with k, m or g",
    .unit = {{"", 1}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}},
    .min = 1 << 20,
    .max = UINT64_C(1) << 40,
    .min_text = "1m",
    .max_text = "1024g",
};

const struct quantity quantity_memory = {
    .noun = "an amount of memory",
    .form = "bytes, or a number with k, m or g",
    .unit = {{"", 1}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}},
    .min = 16 << 20,
    .max = UINT64_C(1) << 40,
    .min_text = "16m",
    .max_text = "1024g",
};

const struct quantity quantity_cpu = {
    .noun = "a processor's number",
    .form = "a whole number",
    .unit = {{"", 1}},
    .min = 0,
    .max = 65534,
    .min_text = "0",
    .max_text = "65534",
};

const struct quantity quantity_size = {
    .noun = "a size",
    .form = "bytes, or a number with k, m or g",
    .unit = {{"", 1}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}},
    .min = 1,
    .max = 1 << 30,
    .min_text = "1",
    .max_text = "1g",
};

const struct quantity quantity_count = {
    .noun = "a count",
    .form = "a whole number",
    .unit = {{"", 1}},
    .min = 1,
    .max = INT32_MAX,
    .min_text = "1",
    .max_text = "2147483647",
};

int quantity_parse(const struct quantity *q, const char *text, uint64_t *out) {
    uint64_t n = 0;
    const char *p = text;
    int range = 0; /* returned only after the unit was checked: "99…9x" is no number at all */
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            range = -ERANGE;
    if (p == text)
        return -EINVAL;
    for (int i = 0; q->unit[i].suffix; i++) {
        if (strcasecmp(p, q->unit[i].suffix) != 0)
            continue;
        if (range || __builtin_mul_overflow(n, q->unit[i].factor, &n) || n < q->min || n > q->max)
            return -ERANGE;
        *out = n;
        return 0;
    }
    return -EINVAL;
}
