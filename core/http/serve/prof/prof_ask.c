#include "core/http/serve/prof/prof_ask.h"

#include "core/base/nearest.h"
#include "core/base/quantity.h"
#include "core/event/event.h"
#include "core/http/serve/prof/prof_format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PID_MOST 4194304u /* the kernel's own limit, PID_MAX_LIMIT */
#define RING_LEAST (64u << 10)
#define RING_MOST (256u << 20)
#define INTERVAL_LEAST 100000u /* ns, for timers: nobody needs more than 10 kHz by URL */
#define OUTPUTS                                                                                    \
    "flamegraph, html, svg, tree, summary, traces, flat, collapsed, text, jfr, pprof, otlp, "      \
    "speedscope, json or markdown"

static int read_flags(struct params *p, struct prof_ask *a) {
    struct export_options *o = &a->export;
    o->threads = params_flag(p, "thread");
    o->simple = params_flag(p, "simple");
    o->normalize = params_flag(p, "norm");
    o->signatures = params_flag(p, "sig");
    o->annotate = params_flag(p, "ann");
    o->library = params_flag(p, "lib");
    if (params_flag(p, "total"))
        o->total = true;
    o->reverse = params_flag(p, "reverse");
    o->inverted = params_flag(p, "inverted");
    a->wait = params_flag(p, "wait");
    return 0;
}

/* Numbers with units, as a URL spells them. */
static const struct quantity seconds = {
    .form = "seconds, or a number with s, m or h",
    .unit = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}},
    .max = UINT64_MAX,
};
static const struct quantity nanoseconds = {
    .form = "nanoseconds, or a number with ns, us, ms or s",
    .unit = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}},
    .max = UINT64_MAX,
};
static const struct quantity bytes = {
    .form = "bytes, or a number with k, m or g",
    .unit = {{"", 1}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}},
    .max = UINT64_MAX,
};
static const struct quantity counted = {
    .form = "a count, or a number with k, m or g",
    .unit = {{"", 1}, {"k", 1000}, {"m", 1000000}, {"g", 1000000000}},
    .max = UINT64_MAX,
};

/* Reads a number with a unit; 1: given. */
static int read_measure(struct params *p, const char *name, const struct quantity *m,
                        uint64_t least, uint64_t most, uint64_t *out, struct err *e) {
    const char *value = params_text(p, name);
    if (!value)
        return 0;
    int r = quantity_parse(m, value, out);
    if (r == -EINVAL)
        return err_set(e, EINVAL, "%s: \"%.40s\" is not %s", name, value, m->form);
    if (r < 0 || *out < least || *out > most)
        return err_set(e, EINVAL, "%s: \"%.40s\" is not from %llu to %llu (%s)", name, value,
                       (unsigned long long)least, (unsigned long long)most, m->form);
    return 1;
}

static int read_percent(struct params *p, const char *name, double *out, struct err *e) {
    const char *value = params_text(p, name);
    char *end;
    if (!value)
        return 0;
    double n = strtod(value, &end);
    if (end == value || *end || !isfinite(n) || n < 0 || n > 100 || value[0] < '0' ||
        value[0] > '9')
        return err_set(e, EINVAL, "%s: \"%.40s\" is not a percentage from 0 to 100", name, value);
    *out = n;
    return 0;
}

static int read_numbers(struct params *p, struct prof_ask *a, struct err *e) {
    uint64_t pid = 0, duration = PROF_DURATION, depth = 0, ring = 0, width = 0, height = 0,
             delay = 1;
    if (params_number(p, "pid", 1, PID_MOST, &pid, e) < 0 ||
        read_measure(p, "duration", &seconds, 1, PROF_DURATION_MAX, &duration, e) < 0 ||
        params_number(p, "jstackdepth", 1, WIRE_DEPTH_DEFAULT, &depth, e) < 0 ||
        read_measure(p, "bufsize", &bytes, 1, RING_MOST, &ring, e) < 0 ||
        params_number(p, "width", 100, 20000, &width, e) < 0 ||
        params_number(p, "height", 8, 100, &height, e) < 0 ||
        params_number(p, "refreshDelay", 0, PROF_DURATION_MAX, &delay, e) < 0 ||
        read_percent(p, "minwidth", &a->export.minwidth, e) < 0)
        return -EINVAL;
    a->pid = (pid_t)pid;
    a->duration_s = (uint32_t)duration;
    a->refresh_delay_s = (uint32_t)delay;
    a->want.depth = (uint32_t)depth;
    /* bufsize once was a number of frames: old scripts have small ones. */
    a->want.ring_bytes = ring && ring < RING_LEAST ? RING_LEAST : ring;
    a->export.width = (uint32_t)width;
    a->export.height = (uint32_t)height;
    return 0;
}

/* Calls `each` for the pieces between commas. */
static int for_each_piece(const char *name, const char *list, struct prof_ask *a,
                          int (*each)(struct prof_ask *a, const char *piece, struct err *e),
                          struct err *e) {
    char piece[256];
    int r = 0;
    for (const char *c = list; r == 0; c++) {
        size_t n = strcspn(c, ",");
        if (n == 0 || n >= sizeof piece)
            return err_set(e, EINVAL, "%s: a name in \"%.40s\" is %s", name, list,
                           n ? "too long" : "empty");
        memcpy(piece, c, n);
        piece[n] = '\0';
        r = each(a, piece, e);
        c += n;
        if (!*c)
            break;
    }
    return r;
}

/* Other servlets accept "CPU" for "cpu" and "HTML" for "html". */
static int add_output(struct prof_ask *a, const char *piece, struct err *e) {
    char small[256];
    size_t n = 0;
    for (; n < sizeof small - 1 && piece[n]; n++)
        small[n] = (char)(piece[n] >= 'A' && piece[n] <= 'Z' ? piece[n] | 0x20 : piece[n]);
    small[n] = '\0';
    const struct exporter *x = exporter_by_format(small, &a->export);
    if (!x)
        return err_set(e, EINVAL, "output: \"%.40s\" is not one of " OUTPUTS, piece);
    if (a->exporter && a->exporter != x)
        return err_set(e, EINVAL,
                       "output: one format at a time, and %.40s differs from the one before it "
                       "(summary, traces and flat go together)",
                       piece);
    a->exporter = x;
    return 0;
}

static const char *usual_spelling(const char *event) {
    for (size_t i = 0; event_names[i] && !event_is_known(event); i++)
        if (strcasecmp(event, event_names[i]) == 0)
            return event_names[i];
    return event;
}

/* It would be a security hole if an event made a process open a file that a stranger names. */
static int add_event(struct prof_ask *a, const char *piece, struct err *e) {
    struct wire_engine_request q;
    struct err why = {0};
    piece = usual_spelling(piece);
    if (strchr(piece, '/') || strstr(piece, ".."))
        return err_set(e, EINVAL,
                       "event: \"%.60s\" has a path in it, which is not allowed in a URL", piece);
    if (event_parse(piece, &q, &why) < 0)
        return err_set(e, EINVAL, "event: %.400s", why.message);
    for (uint32_t i = 0; i < a->want.engines; i++)
        if (a->want.engine[i].event == q.event)
            return err_set(e, EINVAL,
                           "event: %.60s and %.60s cannot be sampled together: choose one",
                           a->want.engine[i].name, piece);
    a->event[a->want.engines] = (int)q.event;
    a->want.engine[a->want.engines++] = q;
    return 0;
}

static const struct quantity *measure_of(uint32_t event) {
    switch (event_measure((enum wire_event)event)) {
    case EVENT_BYTES:
        return &bytes;
    case EVENT_COUNT:
        return &counted;
    case EVENT_TIME:
        break;
    }
    return &nanoseconds;
}

static int set_interval(struct wire_engine_request *engine, const char *text, struct err *e) {
    const struct quantity *m = measure_of(engine->event);
    bool timer = engine->event == WIRE_EVENT_CPU || engine->event == WIRE_EVENT_WALL;
    uint64_t n;
    int r = quantity_parse(m, text, &n);
    if (r < 0 || n > INT64_MAX)
        return err_set(e, EINVAL, "interval: \"%.40s\" is not %s, which %.60s needs", text, m->form,
                       engine->name);
    if (timer && n < INTERVAL_LEAST)
        return err_set(e, EINVAL, "interval: \"%.40s\" is less than 100us (a bare number is %s)",
                       text, "nanoseconds");
    /* On the wire, 0 is the event's default, which is not always "every one". */
    engine->interval = n == 0 && event_default_interval((enum wire_event)engine->event) ? 1 : n;
    return 0;
}

static int read_interval(struct params *p, struct prof_ask *a, struct err *e) {
    const char *list = params_text(p, "interval");
    char piece[64];
    for (uint32_t i = 0; list && i < a->want.engines; i++) {
        size_t n = strcspn(list, ",");
        if (n >= sizeof piece)
            return err_set(e, EINVAL, "interval: \"%.40s\" is not an interval", list);
        memcpy(piece, list, n);
        piece[n] = '\0';
        int r = set_interval(&a->want.engine[i], piece, e);
        if (r < 0)
            return r;
        list = list[n] ? list + n + 1 : NULL; /* the remaining events keep their usual one */
    }
    if (list)
        return err_set(e, EINVAL, "interval: more intervals than events");
    return 0;
}

/* Hive's name for an event that is a Java method. */
static int add_method(struct prof_ask *a, const char *method, struct err *e) {
    int r = add_event(a, method, e);
    if (r == 0 && a->want.engine[0].event != WIRE_EVENT_METHOD)
        r = err_set(e, EINVAL, "method: \"%.60s\" is not Class.method", method);
    return r;
}

static int read_events(struct params *p, struct prof_ask *a, struct err *e) {
    const char *events = params_text(p, "event"), *output = params_text(p, "output");
    const char *method = params_text(p, "method");
    int r = for_each_piece("output", output ? output : "html", a, add_output, e);
    if (r == 0 && events && method)
        r = err_set(e, EINVAL, "method: give event or method, not both");
    else if (r == 0 && method)
        r = add_method(a, method, e);
    else if (r == 0)
        r = for_each_piece("event", events ? events : "cpu", a, add_event, e);
    if (r == 0 && a->want.engines > 1 && a->exporter && !a->exporter->write_all)
        r = err_set(
            e, EINVAL,
            "event: %s holds only one event; jfr, otlp, speedscope, json and markdown hold several",
            a->exporter->name);
    return r < 0 ? r : read_interval(p, a, e);
}

static int add_pattern(struct prof_ask *a, const char *name, const char *value, const char **list,
                       uint32_t *count, struct err *e) {
    uint32_t used = a->includes + a->excludes;
    if (used == PROF_PATTERNS_MAX)
        return err_set(e, EINVAL, "%s: more than %d patterns", name, PROF_PATTERNS_MAX);
    if (!value[0] || strlen(value) >= PROF_PATTERN_BYTES)
        return err_set(e, EINVAL, "%s: a pattern must have 1 to %d bytes", name,
                       PROF_PATTERN_BYTES - 1);
    (void)snprintf(a->pattern[used], PROF_PATTERN_BYTES, "%s", value);
    list[(*count)++] = a->pattern[used];
    return 0;
}

static int read_texts(struct params *p, struct prof_ask *a, struct err *e) {
    const char *title = params_text(p, "title");
    if (title && strlen(title) >= sizeof a->title)
        return err_set(e, EINVAL, "title: longer than %zu bytes", sizeof a->title - 1);
    (void)snprintf(a->title, sizeof a->title, "%s", title ? title : "");
    a->export.title = a->title[0] ? a->title : NULL;
    (void)params_text(p, "include"); /* these may be given several times */
    (void)params_text(p, "exclude");
    int r = 0;
    for (uint32_t i = 0; i < p->count && r == 0; i++) {
        if (strcmp(p->item[i].name, "include") == 0)
            r = add_pattern(a, "include", p->item[i].value, a->include, &a->includes, e);
        else if (strcmp(p->item[i].name, "exclude") == 0)
            r = add_pattern(a, "exclude", p->item[i].value, a->exclude, &a->excludes, e);
    }
    return r;
}

/* An unknown parameter is a typing error: what the user meant would be ignored silently. */
static int check_unknown(const struct params *p, struct err *e) {
    static const char *const names[] = {
        "pid",     "event",   "method",   "duration",    "interval", "jstackdepth", "bufsize",
        "output",  "thread",  "simple",   "norm",        "sig",      "ann",         "lib",
        "total",   "reverse", "inverted", "width",       "height",   "title",       "minwidth",
        "include", "exclude", "wait",     "refreshDelay"};
    const char *unknown = params_unused(p), *nearest = NULL;
    int least = 5;
    for (size_t i = 0; unknown && i < sizeof names / sizeof names[0]; i++) {
        int distance = nearest_distance(unknown, names[i]);
        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    if (!unknown)
        return 0;
    return err_set(
        e, EINVAL,
        "%.40s: no such parameter%s%s%s Parameters are pid, event, method, duration, interval, "
        "jstackdepth, bufsize, output, thread, simple, norm, sig, ann, lib, total, reverse, "
        "inverted, width, height, minwidth, title, include, exclude, wait and refreshDelay",
        unknown, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : ".");
}

int prof_ask_read(struct params *p, struct prof_ask **out, struct err *e) {
    struct prof_ask *a = calloc(1, sizeof *a);
    *out = NULL;
    if (!a)
        return err_set(e, ENOMEM, "no memory for a request");
    int r = read_events(p, a, e);
    if (r == 0)
        r = read_numbers(p, a, e);
    if (r == 0)
        r = read_flags(p, a);
    if (r == 0)
        r = read_texts(p, a, e);
    if (r == 0)
        r = check_unknown(p, e);
    if (r < 0) {
        free(a);
        return r;
    }
    *out = a;
    return 0;
}

static bool same_patterns(const char *const *a, uint32_t as, const char *const *b, uint32_t bs) {
    bool same = as == bs;
    for (uint32_t i = 0; i < as && same; i++)
        same = strcmp(a[i], b[i]) == 0;
    return same;
}

static bool same_events(const struct fleet_want *a, const struct fleet_want *b) {
    bool same = a->engines == b->engines && a->depth == b->depth && a->ring_bytes == b->ring_bytes;
    for (uint32_t i = 0; i < a->engines && same; i++)
        same = a->engine[i].event == b->engine[i].event &&
               a->engine[i].interval == b->engine[i].interval &&
               strcmp(a->engine[i].name, b->engine[i].name) == 0;
    return same;
}

static bool same_look(const struct export_options *a, const struct export_options *b) {
    return a->threads == b->threads && a->simple == b->simple && a->normalize == b->normalize &&
           a->signatures == b->signatures && a->annotate == b->annotate &&
           a->library == b->library && a->total == b->total && a->reverse == b->reverse &&
           a->inverted == b->inverted && a->traces == b->traces && a->flat == b->flat &&
           a->want_summary == b->want_summary && a->want_traces == b->want_traces &&
           a->want_flat == b->want_flat && a->width == b->width && a->height == b->height &&
           !(a->minwidth < b->minwidth) && !(a->minwidth > b->minwidth);
}

bool prof_ask_same(const struct prof_ask *a, const struct prof_ask *b) {
    return a->pid == b->pid && a->duration_s == b->duration_s && a->exporter == b->exporter &&
           strcmp(a->title, b->title) == 0 && same_events(&a->want, &b->want) &&
           same_look(&a->export, &b->export) &&
           same_patterns(a->include, a->includes, b->include, b->includes) &&
           same_patterns(a->exclude, a->excludes, b->exclude, b->excludes);
}

void prof_ask_query(const struct prof_ask *a, struct query *out) {
    *out = (struct query){.event = a->event[0],
                          .include = a->include,
                          .includes = a->includes,
                          .exclude = a->exclude,
                          .excludes = a->excludes};
}
