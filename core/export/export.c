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

#define PLAIN "text/plain; charset=utf-8"
#define PAGE "text/html; charset=utf-8"
#define BYTES "application/octet-stream"
#define JSON "application/json"

/* A row: name, help text, content type, writer, and further fields. */
#define ROW(n, h, t, w, ...)                                                                       \
    { .name = n, .help = h, .type = t, .write = w, __VA_ARGS__ }

/* The order matters: ".speedscope.json" must come before the shorter ".json", and ".html" belongs
 * to the flame graph, not to the tree. */
const struct exporter exporters[] = {
    ROW("text", "summary, heaviest stacks and hottest methods", PLAIN, text_export,
        .extension = {".txt"}, .diff = true, .walks = true),
    ROW("collapsed", "one line per stack: root;...;leaf COUNT", PLAIN, collapsed_export,
        .extension = {".collapsed", ".folded"}, .diff = true, .walks = true),
    ROW("svg", "interactive flame graph in one file", "image/svg+xml", svg_export,
        .extension = {".svg"}, .picture = true, .diff = true, .walks = true),
    ROW("html", "the same as a page, for large profiles", PAGE, html_export,
        .extension = {".html", ".htm"}, .picture = true, .diff = true, .walks = true),
    ROW("tree", "expandable call tree, as a page", PAGE, tree_export, .extension = {".html"},
        .picture = true, .walks = true),
    ROW("jfr", "for JDK Mission Control and jfr print", BYTES, jfr_export, .extension = {".jfr"},
        .write_all = jfr_export_all, .samples = true, .download = true),
    ROW("pprof", "for go tool pprof", BYTES, pprof_export, .extension = {".pb.gz", ".pprof"},
        .samples = true, .whole = true, .download = true),
    ROW("otlp", "OpenTelemetry's profiles signal", "application/x-protobuf", otlp_export,
        .extension = {".otlp"}, .write_all = otlp_export_all, .samples = true, .whole = true,
        .download = true),
    ROW("speedscope", "for speedscope", JSON, speedscope_export, .extension = {".speedscope.json"},
        .write_all = speedscope_export_all, .download = true, .walks = true),
    ROW("json", "methods, threads and stacks for programs", JSON, json_export,
        .extension = {".json"}, .write_all = json_export_all, .walks = true),
    ROW("markdown", "a report to paste into a ticket", "text/markdown; charset=utf-8",
        markdown_export, .extension = {".md"}, .write_all = markdown_export_all, .diff = true,
        .walks = true),
    {0},
};

static const struct exporter *by_name(const char *name, size_t len) {
    /* async-profiler's name for the format. */
    if (len == 10 && !strncmp(name, "flamegraph", len))
        return by_name("html", 4);
    for (const struct exporter *x = exporters; x->name; x++) {
        if (strlen(x->name) == len && strncmp(x->name, name, len) == 0)
            return x;
    }
    return NULL;
}

/* Parses a value: "N" greater than 0, or no value, which leaves *n unchanged. */
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

/* Parses the value "samples" or "total". No value leaves *total unchanged. */
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
        uint32_t *rows; /* NULL: the part takes no value */
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
