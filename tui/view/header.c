#include "tui/view/header.h"

#include "core/report/quality.h"
#include "core/wire/wire_names.h"
#include "tui/view/view.h"
#include "core/base/format.h"
#include "core/report/event_trouble.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum detail { NAME_ONLY, INTERVAL, ALL };

/* True if the event is not sampled although the session runs. */
static bool is_off(const struct model *m, int event) {
    return m->status.phase == SESSION_RUNNING && !m->status.engine[event].runs &&
           !m->status.engine[event].asked && event < WIRE_EVENTS;
}

static const char *describe(const struct model *m, int event, enum detail detail, char *out,
                            size_t size) {
    const struct session_engine *e = &m->status.engine[event];
    struct format f = {""};
    if (event_trouble_fails(e))
        snprintf(out, size, "%s", detail == ALL ? "cannot run" : "!");
    else if (is_off(m, event))
        snprintf(out, size, "off");
    else if (event >= WIRE_EVENTS || !e->mechanism[0])
        snprintf(out, size, "%s", "");
    else
        snprintf(out, size, "%s%s%s%s", detail == ALL ? e->mechanism : "",
                 detail == ALL && e->interval && detail >= INTERVAL ? " " : "",
                 e->interval && detail >= INTERVAL
                     ? format_step(&f, event_kind_unit[event], e->interval)
                     : "",
                 e->biased ? detail == NAME_ONLY ? "BIASED" : " BIASED" : "");
    return out;
}

/* Writes "perf 10ms", "safepoint 10ms BIASED", "off", "cannot run". Returns out. */
static const char *header_event_figure(const struct model *m, int event, char *out, size_t size) {
    describe(m, event, ALL, out, size);
    if (!out[0])
        snprintf(out, size, "%s", m->status.engine[event].asked ? "?" : "-");
    return out;
}

/* Writes "[cpu perf 10ms]", " alloc 512K ". The current event, in brackets, always has all details.
 * Returns out. */
static const char *event_text(const struct model *m, int event, enum detail detail, char *out,
                              size_t size) {
    bool on = event == m->question.event;
    char text[128];
    describe(m, event, on ? ALL : detail, text, sizeof text);
    snprintf(out, size, on ? "[%s%s%s]" : " %s%s%s ", model_event_name(m, event),
             text[0] ? " " : "", text);
    return out;
}

static int columns(const struct canvas *c, const struct model *m, enum detail detail) {
    char text[256];
    int cols = 0;
    for (int i = 0; i < EVENT_KINDS; i++)
        if (model_has_event(m, i))
            cols += canvas_width(c, event_text(m, i, detail, text, sizeof text));
    return cols;
}

/* Draws all events that the model has, the current one in brackets. If there is no room, the other
 * events first lose their mechanism, then their interval. */
static void header_draw_events(struct canvas *c, int row, const struct model *m) {
    enum detail detail = ALL;
    while (detail > NAME_ONLY && columns(c, m, detail) > c->cols)
        detail--;
    int at = 0;
    for (int i = 0; i < EVENT_KINDS; i++) {
        const struct session_engine *e = &m->status.engine[i];
        char text[256];
        if (!model_has_event(m, i))
            continue;
        enum role role = event_trouble_fails(e) || e->biased ? ROLE_WARNING
                         : i == m->question.event            ? ROLE_TAB_ON
                                                             : ROLE_TAB;
        at += canvas_text(c, row, at, c->cols - at, role,
                          event_text(m, i, detail, text, sizeof text));
    }
}

/* Writes "ctimer is used: no perf_events: denied" for the current event. False: there is nothing to
 * say. */
static bool header_event_reason(const struct model *m, char *out, size_t size) {
    const struct session_engine *e = &m->status.engine[m->question.event];
    bool poorer = m->question.event < WIRE_EVENTS && e->mechanism[0] && session_engine_is_poorer(e);
    if (size)
        out[0] = '\0';
    if (poorer)
        snprintf(out, size, "%s is used: %s", e->mechanism, event_trouble_why(e));
    return poorer;
}

#define GAP 2
#define PRECISE_COLS 110 /* width for the long form */
#define WIDE_COLS 100    /* a narrower screen has one number of threads */
#define EVENTS_ROWS 16   /* rows of a screen that has one for the events */

/* A line that is filled from the left with figures "label value". */
struct line {
    struct canvas *c;
    int row, at, end;
};

/* Draws a text. Returns its columns. */
static int put(const struct line *l, int cols, enum role role, const char *text) {
    return canvas_text(l->c, l->row, l->at, cols, role, text);
}

/* Draws a figure. False if it does not fit; it is then left out. */
static bool figure(struct line *l, const char *label, enum role role, const char *value) {
    int gap = l->at ? GAP : 0;
    int label_cols = canvas_width(l->c, label), value_cols = canvas_width(l->c, value);
    int between = label_cols > 0;
    if (l->at + gap + label_cols + between + value_cols > l->end)
        return false;
    l->at += gap;
    l->at += put(l, label_cols, ROLE_LABEL, label) + between;
    l->at += put(l, value_cols, role, value);
    return true;
}

static const char *known(const char *s) {
    return s[0] ? s : "?";
}

static bool is_recording(const struct model *m) {
    return m->status.phase == SESSION_REPLAYED;
}

static void draw_jvm(struct canvas *c, const struct model *m) {
    const struct jvm *j = &m->jvm;
    struct format f = {""};
    char rest[192], up[48];
    if (is_recording(m)) /* a recording does not know when the JVM started */
        snprintf(up, sizeof up, "length %s", format_clock(&f, m->status.elapsed_ns / 1000000));
    else
        snprintf(up, sizeof up, "up %s", format_clock(&f, j->uptime_ms));
    int up_cols = canvas_width(c, up);
    char via[32] = "";
    if (m->status.reader) /* the process that has the session */
        snprintf(via, sizeof via, " sampled by %d", (int)m->status.reader);
    snprintf(rest, sizeof rest, "pid %d%s  %s%s", (int)j->pid, via, known(j->version),
             j->container ? "  container" : "");
    int at = canvas_text(c, 0, 0, c->cols, ROLE_TITLE, "jtop-prof") + GAP;
    int rest_cols = canvas_width(c, rest), room = c->cols - at - rest_cols - up_cols - 2 * GAP;
    if (room < 16) { /* the version is left out first */
        snprintf(rest, sizeof rest, "pid %d%s", (int)j->pid, via);
        rest_cols = canvas_width(c, rest);
        room = c->cols - at - rest_cols - up_cols - 2 * GAP;
    }
    if (room < 8 && via[0]) { /* then the sampling process */
        snprintf(rest, sizeof rest, "pid %d", (int)j->pid);
        rest_cols = canvas_width(c, rest);
        room = c->cols - at - rest_cols - up_cols - 2 * GAP;
    }
    if (room < 8) { /* then the pid */
        room += rest_cols + GAP;
        rest_cols = 0;
    }
    at += canvas_tail(c, 0, at, room, ROLE_VALUE, known(j->name)) + GAP;
    canvas_text(c, 0, at, rest_cols, ROLE_TEXT, rest);
    canvas_right(c, 0, c->cols - up_cols, up_cols, ROLE_TEXT, up);
}

/* Draws the CPU use in cores, of those it may use: the quota of its control groups, or the
 * processors. And how often the quota throttles the JVM. */
static void draw_cpu(struct line *l, const struct model *m) {
    double may = m->cpu.processors;
    char text[96];
    if (m->cpu.quota > 0 && (m->cpu.quota < may || may == 0))
        may = m->cpu.quota;
    int used = snprintf(text, sizeof text, "%.2f", m->jvm.cpu_percent / 100);
    if (may > 0)
        snprintf(text + used, sizeof text - (size_t)used, " of %.4g core%s", may,
                 may == 1 ? "" : "s");
    else
        snprintf(text + used, sizeof text - (size_t)used, " cores");
    figure(l, "cpu", ROLE_VALUE, text);
    if (m->cpu.quota <= 0 || !m->cpu.throttled)
        return;
    snprintf(text, sizeof text, "%.0f%%", 100 * m->cpu.share);
    figure(l, "throttled", m->cpu.share >= 0.05 ? ROLE_WARNING : ROLE_VALUE, text);
}

/* Draws the kernel's number of threads, with those of Java among them. */
static void draw_threads(struct line *l, const struct model *m) {
    uint32_t all = m->stats_now.count > 0 ? (uint32_t)m->stats_now.count : m->jvm.threads;
    char text[48];
    all = all > m->jvm.threads ? all : m->jvm.threads;
    if (m->jvm.perf_data && m->jvm.threads < all && l->end >= WIDE_COLS)
        snprintf(text, sizeof text, "%u (%u Java)", all, m->jvm.threads);
    else
        snprintf(text, sizeof text, "%u", all);
    figure(l, "threads", ROLE_VALUE, text);
}

static void draw_figures(struct canvas *c, const struct model *m) {
    const struct jvm *j = &m->jvm;
    struct line l = {.c = c, .row = 1, .end = c->cols};
    struct format a = {""}, b = {""};
    char text[96];
    uint64_t most = j->heap_max_bytes ? j->heap_max_bytes : j->heap_capacity_bytes;
    if (most)
        figure(&l, "heap", ROLE_VALUE, format_heap(&a, j->heap_used_bytes, most));
    if (j->perf_data) {
        snprintf(text, sizeof text, "%" PRIu64 " %.2fs", j->gc_count, (double)j->gc_time_ms / 1e3);
        figure(&l, "gc", ROLE_VALUE, text);
    }
    if (is_recording(m)) {
        figure(&l, "heap, cpu, threads", ROLE_TEXT, "are not in a recording");
        return;
    }
    draw_cpu(&l, m);
    draw_threads(&l, m);
    snprintf(text, sizeof text, "%s%% JVM + %s%% here", format_percent(&a, m->agent_percent),
             format_percent(&b, m->frontend_percent));
    if (!figure(&l, "overhead", ROLE_TEXT, text)) {
        snprintf(text, sizeof text, "%s%%+%s%%", format_percent(&a, m->agent_percent),
                 format_percent(&b, m->frontend_percent));
        figure(&l, "overhead", ROLE_TEXT, text);
    }
    figure(&l, "rss", ROLE_TEXT, format_bytes(&a, j->rss_bytes));
    if (j->perf_data) {
        snprintf(text, sizeof text, "%" PRIu64 " %.2fs", j->safepoint_count,
                 (double)j->safepoint_time_ms / 1e3);
        figure(&l, "safepoints", ROLE_TEXT, text);
        figure(&l, "classes", ROLE_TEXT, format_count(&a, j->classes_loaded));
    }
}

/* Draws the walker. With --precise, the cost of recompiling must be visible, so the default walker
 * is left out to make room for it. */
static void draw_walker(struct line *l, const struct model *m) {
    const struct session_status *s = &m->status;
    bool precise = m->settings.precise && !is_recording(m);
    char text[64];
    if (!precise || strcmp(s->walker, wire_walk_name[WIRE_WALK_VM]) != 0)
        figure(l, "walk", ROLE_VALUE, known(s->walker));
    if (!precise)
        return;
    if (l->end < PRECISE_COLS)
        snprintf(text, sizeof text, "%" PRIu64 " %.0fms", s->recompiled,
                 (double)s->recompile_ns / 1e6);
    else
        quality_precise(s, text, sizeof text);
    figure(l, "precise", ROLE_VALUE, text);
}

/* Draws the samples of the current event. */
static void draw_samples(struct line *l, const struct model *m) {
    const int event = m->question.event;
    struct format a = {""}, b = {""};
    char text[96];
    bool made = event >= WIRE_EVENTS; /* derived from another event: it has no rate */
    uint64_t n = m->counted[event];
    const char *samples = n < 1000000 ? format_count(&a, n) : format_short_count(&a, n);
    if (is_recording(m) || made)
        snprintf(text, sizeof text, "%s", samples);
    else
        snprintf(text, sizeof text, "%s %s/s", samples,
                 format_count(&b, (uint64_t)(m->samples_per_second[event] + 0.5)));
    figure(l, "samples", ROLE_VALUE, text);
}

static void draw_quality_figures(struct line *l, const struct model *m, bool with_event) {
    const struct session_status *s = &m->status;
    const struct session_engine *wall = &s->engine[WIRE_EVENT_WALL];
    struct format a = {""};
    char text[96];
    if (with_event) {
        bool biased = s->engine[m->question.event].biased;
        header_event_figure(m, m->question.event, text, sizeof text);
        figure(l, model_event_name(m, m->question.event), biased ? ROLE_WARNING : ROLE_VALUE, text);
    }
    draw_walker(l, m);
    draw_samples(l, m);
    if (m->question.event == WIRE_EVENT_WALL && wall->mechanism[0] && wall->coverage >= 0) {
        snprintf(text, sizeof text, "%.1f%%", 100 * wall->coverage);
        figure(l, "coverage", wall->coverage < 0.9 ? ROLE_WARNING : ROLE_VALUE, text);
    }
    snprintf(text, sizeof text, "%s%s", format_count(&a, s->dropped), s->dropped ? "!" : "");
    figure(l, "drops", s->dropped ? ROLE_WARNING : ROLE_VALUE, text);
    double failed = percent_of(model_failed(m), s->samples);
    snprintf(text, sizeof text, "%s%%%s", format_percent(&a, failed), failed >= 5 ? "!" : "");
    figure(l, "failed", failed >= 5 ? ROLE_WARNING : ROLE_VALUE, text);
}

static void draw_quality(struct canvas *c, int row, const struct model *m, bool with_event) {
    struct line l = {.c = c, .row = row, .end = c->cols};
    struct format a = {""};
    draw_quality_figures(&l, m, with_event);
    if (!is_recording(m))
        figure(&l, "for", ROLE_TEXT, format_clock(&a, m->status.elapsed_ns / 1000000));
}

int header_draw(struct canvas *c, const struct model *m) {
    int row = 2;
    draw_jvm(c, m);
    draw_figures(c, m);
    bool several =
        c->rows >= EVENTS_ROWS && model_next_event(m, m->question.event, 1) != m->question.event;
    if (several)
        header_draw_events(c, row++, m);
    draw_quality(c, row++, m, !several);
    return row;
}

const char *header_notice(const struct model *m, bool *minor, char *out, size_t size) {
    const struct session_status *s = &m->status;
    char walker[200];
    *minor = false;
    quality_walker(s, m->settings.walk, walker, sizeof walker);
    if (s->phase == SESSION_JVM_GONE)
        snprintf(out, size, "the JVM is gone: this is what was sampled (s saves it, q quits)");
    else if (m->standstill != STANDSTILL_NONE)
        quality_standstill(m->standstill, m->jvm.pid, m->tracer, out, size);
    else if (s->message[0])
        snprintf(out, size, "%s", s->message);
    else if (s->phase == SESSION_FAILED)
        snprintf(out, size, "sampling failed: this is what was sampled until then");
    else if (model_event_trouble(m, out, size))
        return out;
    else if (walker[0])
        snprintf(out, size, "%s", walker);
    else if (s->budget.text[0])
        snprintf(out, size, "%s", s->budget.text);
    else if (s->news[0])
        snprintf(out, size, "%s", s->news);
    else
        *minor = header_event_reason(m, out, size);
    return out;
}
