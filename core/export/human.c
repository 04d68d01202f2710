#include "core/export/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void human_count(struct text *out, uint64_t n) {
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            text_add_n(out, ",", 1);
        text_add_n(out, digits + i, 1);
    }
}

/* Prints three significant digits, without zeros at the end. */
static void add_scaled(struct text *out, double v, const char *unit) {
    char buf[48];
    int len = snprintf(buf, sizeof(buf), "%.*f", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
    if (strchr(buf, '.')) {
        while (buf[len - 1] == '0')
            len--;
        if (buf[len - 1] == '.')
            len--;
    }
    text_add_n(out, buf, (size_t)len);
    text_addf(out, " %s", unit);
}

static void add_duration(struct text *out, uint64_t ns) {
    uint64_t s = ns / 1000000000;
    if (s >= 3600)
        text_addf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        text_addf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else if (ns >= 1000000000)
        add_scaled(out, (double)ns / 1e9, "s");
    else if (ns >= 1000000)
        add_scaled(out, (double)ns / 1e6, "ms");
    else if (ns >= 1000)
        add_scaled(out, (double)ns / 1e3, "us");
    else
        text_addf(out, "%" PRIu64 " ns", ns);
}

static void add_bytes(struct text *out, uint64_t n) {
    static const char *const unit[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    double v = (double)n;
    size_t u = 0;
    for (; v >= 1024 && u < sizeof(unit) / sizeof(unit[0]) - 1; u++)
        v /= 1024;
    add_scaled(out, v, unit[u]);
}

void human_weight(struct text *out, uint64_t n, const char *unit) {
    if (!strcmp(unit, "ns")) {
        add_duration(out, n);
    } else if (!strcmp(unit, "bytes")) {
        add_bytes(out, n);
    } else {
        human_count(out, n);
        text_addf(out, " %s", unit);
    }
}
