#include "core/export/export.h"

#include "core/base/clock.h"
#include "core/export/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

int64_t formats_time_of_day(const struct export_quality *q, uint64_t last) {
    if (q && q->day_ns && last < INT64_MAX / 2000000000)
        return q->day_ns;
    int64_t day = (int64_t)clock_ns(CLOCK_REALTIME), now = (int64_t)clock_ns(CLOCK_MONOTONIC);
    int64_t newest = last < INT64_MAX / 2000000000 ? (int64_t)(last * 1000000000) : now;
    return newest > now ? day - newest : day - now;
}

#define ROW(n, h, w, ...)                                                                          \
    { .name = n, .extension = {__VA_ARGS__}, .help = h, .write = w }
/* That does not only append. */
#define ROW_WHOLE(n, h, w, ...)                                                                    \
    { .name = n, .extension = {__VA_ARGS__}, .help = h, .write = w, .whole = true }
/* Of several events in one file. */
#define ROW_ALL(n, h, w, ...)                                                                      \
    { .name = n, .extension = {__VA_ARGS__}, .help = h, .write = w, .write_all = w##_all }
#define ROW_ALL_WHOLE(n, h, w, ...)                                                                \
    {                                                                                              \
        .name = n, .extension = {__VA_ARGS__}, .help = h, .write = w, .write_all = w##_all,        \
        .whole = true                                                                              \
    }

/* ".speedscope.json" is longer than ".json", and so comes first. */
const struct exporter exporters[] = {
    ROW("text", "summary, heaviest stacks and hottest methods", text_export, ".txt"),
    ROW("collapsed", "one line a stack: root;...;leaf COUNT", collapsed_export, ".collapsed",
        ".folded"),
    ROW("svg", "interactive flame graph in one file", svg_export, ".svg"),
    ROW("html", "the same as a page, for large profiles", html_export, ".html", ".htm"),
    ROW("tree", "call tree to unfold, as a page", tree_export, NULL),
    ROW_ALL_WHOLE("jfr", "for JDK Mission Control and jfr print", jfr_export, ".jfr"),
    ROW_WHOLE("pprof", "for go tool pprof", pprof_export, ".pb.gz", ".pprof"),
    ROW_ALL_WHOLE("otlp", "OpenTelemetry's profiles signal", otlp_export, ".otlp"),
    ROW_ALL("speedscope", "for speedscope", speedscope_export, ".speedscope.json"),
    ROW_ALL("json", "methods, threads and stacks for programs", json_export, ".json"),
    ROW_ALL("markdown", "a report to paste into a ticket", markdown_export, ".md"),
    {0},
};

static const struct exporter *by_name(const char *name, size_t len) {
    /* As async-profiler calls it. */
    if (len == 10 && !strncmp(name, "flamegraph", len))
        return by_name("html", 4);
    for (const struct exporter *x = exporters; x->name; x++) {
        if (strlen(x->name) == len && strncmp(x->name, name, len) == 0)
            return x;
    }
    return NULL;
}

/* "=N" with 0 < N, or nothing, which leaves *n alone. */
static bool parse_rows(const char *value, uint32_t *n) {
    if (!value)
        return true;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || errno || !v || v > UINT32_MAX)
        return false;
    *n = (uint32_t)v;
    return true;
}

/* "=samples" or "=total". */
static bool parse_counter(const char *value, bool *total) {
    if (!value)
        return true;
    *total = strcmp(value, "total") == 0;
    return *total || strcmp(value, "samples") == 0;
}

const struct exporter *exporter_by_format(const char *format, struct export_options *o) {
    size_t len = strcspn(format, "=");
    const char *value = format[len] ? format + len + 1 : NULL;
    const struct {
        const char *name;
        bool *want;
        uint32_t *rows; /* NULL: takes no value */
    } part[] = {
        {"summary", &o->want_summary, NULL},
        {"traces", &o->want_traces, &o->traces},
        {"flat", &o->want_flat, &o->flat},
    };
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
        if (strlen(part[i].name) != len || strncmp(part[i].name, format, len) != 0)
            continue;
        if (part[i].rows ? !parse_rows(value, part[i].rows) : value != NULL)
            return NULL;
        *part[i].want = true;
        return by_name("text", 4);
    }
    const struct exporter *x = by_name(format, len);
    return x && parse_counter(value, &o->total) ? x : NULL;
}

const struct exporter *exporter_by_path(const char *path) {
    size_t len = strlen(path);
    for (const struct exporter *x = exporters; x->name; x++) {
        for (size_t i = 0; i < sizeof(x->extension) / sizeof(x->extension[0]); i++) {
            size_t n = x->extension[i] ? strlen(x->extension[i]) : 0;
            if (n && n <= len && strcasecmp(path + len - n, x->extension[i]) == 0)
                return x;
        }
    }
    return NULL;
}
