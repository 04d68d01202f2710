#include "core/base/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *format_bytes(struct format *f, uint64_t bytes) {
    static const char unit[] = "BKMGTPE";
    int u = 0;
    double v = (double)bytes;
    while (v >= 999.5 && u < 6) {
        v /= 1024;
        u++;
    }
    snprintf(f->s, sizeof f->s, v < 9.95 && u > 0 ? "%.1f%c" : "%.0f%c", v, unit[u]);
    return f->s;
}

const char *format_count(struct format *f, uint64_t n) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *to = f->s;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return f->s;
}

const char *format_short_count(struct format *f, uint64_t n) {
    static const char unit[] = "kMGTPE";
    if (n < 1000000) {
        snprintf(f->s, sizeof f->s, "%" PRIu64, n);
        return f->s;
    }
    int u = 0;
    double v = (double)n / 1000;
    while (v >= 999.95 && u < 5) {
        v /= 1000;
        u++;
    }
    snprintf(f->s, sizeof f->s, "%.1f%c", v, unit[u]);
    return f->s;
}

const char *format_clock(struct format *f, uint64_t ms) {
    uint64_t s = ms / 1000;
    int n = 0;
    if (s >= 86400)
        n = snprintf(f->s, sizeof f->s, "%" PRIu64 "d ", s / 86400);
    snprintf(f->s + n, sizeof f->s - (size_t)n, "%02u:%02u:%02u", (unsigned)(s / 3600 % 24),
             (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    return f->s;
}

const char *format_time(struct format *f, int64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
    struct tm tm;
    f->s[0] = '\0';
    if (localtime_r(&seconds, &tm))
        strftime(f->s, sizeof f->s, "%H:%M:%S", &tm);
    return f->s;
}

const char *format_age(struct format *f, uint64_t ms) {
    uint64_t s = ms / 1000;
    if (s < 60)
        snprintf(f->s, sizeof f->s, "%us", (unsigned)s);
    else if (s < 3600)
        snprintf(f->s, sizeof f->s, "%um%02u", (unsigned)(s / 60), (unsigned)(s % 60));
    else if (s < 86400)
        snprintf(f->s, sizeof f->s, "%uh%02um", (unsigned)(s / 3600), (unsigned)(s / 60 % 60));
    else
        snprintf(f->s, sizeof f->s, "%" PRIu64 "d%02uh", s / 86400, (unsigned)(s / 3600 % 24));
    return f->s;
}

const char *format_percent(struct format *f, double percent) {
    if (!(percent > 0)) /* NaN too */
        percent = 0;
    snprintf(f->s, sizeof f->s, percent < 999.95 ? "%.1f" : "%.0f", percent);
    return f->s;
}

const char *format_interval(struct format *f, uint64_t value) {
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    for (int i = 0; i < 4; i++) {
        if (i == 3 || (value && value % units[i].ns == 0)) {
            snprintf(f->s, sizeof f->s, "%" PRIu64 "%s", value / units[i].ns, units[i].unit);
            break;
        }
    }
    return f->s;
}

const char *format_duration(struct format *f, uint64_t ns) {
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    int u = 0;
    double v = (double)ns;
    if (ns >= UINT64_C(600000000000))
        return format_age(f, ns / 1000000);
    while (v >= 999.5 && u < 3) {
        v /= 1000;
        u++;
    }
    int decimals = u == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
    snprintf(f->s, sizeof f->s, "%.*f%s", decimals, v, unit[u]);
    return f->s;
}

const char *format_weight(struct format *f, const char *unit, uint64_t weight) {
    if (!weight)
        return format_short_count(f, weight);
    if (!strcmp(unit, "ns"))
        return format_duration(f, weight);
    return !strcmp(unit, "bytes") ? format_bytes(f, weight) : format_short_count(f, weight);
}

const char *format_step(struct format *f, const char *unit, uint64_t interval) {
    return !strcmp(unit, "ns") ? format_interval(f, interval) : format_weight(f, unit, interval);
}

const char *format_heap(struct format *f, uint64_t used, uint64_t max) {
    struct format a = {"-"}, b = {""};
    if (used)
        format_bytes(&a, used);
    snprintf(f->s, sizeof f->s, "%.8s/%.8s", a.s, format_bytes(&b, max));
    return f->s;
}

double percent_of(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Square root by Newton's iteration, for 0 < x <= 1/4. No other root is needed here, so libm is not
 * used. */
static double root(double x) {
    double r = 0.5;
    for (int i = 0; i < 40; i++)
        r = (r + x / r) / 2;
    return r;
}

double percent_error(uint64_t part, uint64_t samples) {
    if (!samples)
        return 0;
    double p = (double)part / (double)samples;
    return p > 0 && p < 1 ? 196.0 * root(p * (1 - p) / (double)samples) : 0;
}
