#include "tui/view/header.h"

#include "core/report/quality.h"
#include "core/wire/wire_names.h"
#include "tui/view/header_events.h"
#include "tui/widget/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GAP 2
#define PRECISE_COLS 110 /* that the long form wants */
#define EVENTS_ROWS 16   /* of a screen that has one to spare for the events */

/* A line being filled from the left with "label value" figures. */
struct line {
    struct canvas *c;
    int row, at, end;
};

/* A figure that does not fit is left out: false. */
static bool figure(struct line *l, const char *label, enum role role, const char *value) {
    int gap = l->at ? GAP : 0;
    int label_cols = canvas_width(l->c, label), value_cols = canvas_width(l->c, value);
    int between = label_cols > 0;
    if (l->at + gap + label_cols + between + value_cols > l->end)
        return false;
    l->at += gap;
    l->at += canvas_text(l->c, l->row, l->at, label_cols, ROLE_LABEL, label) + between;
    l->at += canvas_text(l->c, l->row, l->at, value_cols, role, value);
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
    if (is_recording(m)) /* which does not know when the JVM began */
        snprintf(up, sizeof up, "recording of %s",
                 format_clock(&f, m->status.elapsed_ns / 1000000));
    else
        snprintf(up, sizeof up, "up %s", format_clock(&f, j->uptime_ms));
    int up_cols = canvas_width(c, up);
    char via[32] = "";
    if (m->status.reader) /* whose session it is */
        snprintf(via, sizeof via, " via %d", (int)m->status.reader);
    snprintf(rest, sizeof rest, "pid %d%s  %s%s", (int)j->pid, via, known(j->version),
             j->container ? "  container" : "");
    int at = canvas_text(c, 0, 0, c->cols, ROLE_TITLE, "jtop-prof") + GAP;
    int rest_cols = canvas_width(c, rest), room = c->cols - at - rest_cols - up_cols - 2 * GAP;
    if (room < 16) { /* the version goes first */
        snprintf(rest, sizeof rest, "pid %d%s", (int)j->pid, via);
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

/* Against the quota that its control groups leave it, and whether that stops it. */
static void draw_cpu(struct line *l, const struct model *m) {
    struct format a = {""};
    char text[96];
    int used = snprintf(text, sizeof text, "%s%%", format_percent(&a, m->jvm.cpu_percent));
    if (m->cpu.quota > 0)
        snprintf(text + used, sizeof text - (size_t)used, " of %.4g%%", 100 * m->cpu.quota);
    if (!figure(l, "cpu", ROLE_VALUE, text)) {
        text[used] = '\0';
        figure(l, "cpu", ROLE_VALUE, text);
    }
    if (m->cpu.quota <= 0 || !m->cpu.throttled)
        return;
    snprintf(text, sizeof text, "%.0f%%", 100 * m->cpu.share);
    figure(l, "throttled", m->cpu.share >= 0.05 ? ROLE_WARNING : ROLE_VALUE, text);
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
    snprintf(text, sizeof text, "%u", j->threads);
    figure(&l, "threads", ROLE_VALUE, text);
    snprintf(text, sizeof text, "%s%%+%s%%", format_percent(&a, m->agent_percent),
             format_percent(&b, m->frontend_percent));
    figure(&l, "own", ROLE_TEXT, text);
    figure(&l, "rss", ROLE_TEXT, format_bytes(&a, j->rss_bytes));
    if (j->perf_data) {
        snprintf(text, sizeof text, "%" PRIu64 " %.2fs", j->safepoint_count,
                 (double)j->safepoint_time_ms / 1e3);
        figure(&l, "safepoints", ROLE_TEXT, text);
        figure(&l, "classes", ROLE_TEXT, format_count(&a, j->classes_loaded));
    }
}

/* The reason most failed walks have, "" where there is none. */
static const char *main_failure(const struct session_status *s) {
    uint32_t most = 0;
    for (uint32_t i = 1; i < WIRE_FAILURES; i++)
        if (wire_failure_is_error(i) && s->failed[i] > (most ? s->failed[most] : 0))
            most = i;
    return most ? wire_failure_name[most] : "";
}

/* Recompiling is asked for, and its price is to be seen: a walker that goes without saying makes
 * room for it. */
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

/* Of the event in question. */
static void draw_samples(struct line *l, const struct model *m) {
    const int event = m->question.event;
    struct format a = {""}, b = {""};
    char text[96];
    bool made = event >= WIRE_EVENTS; /* of what is left of another event: it has no rate */
    uint64_t n = m->counted[event];
    const char *samples = n < 1000000 ? format_count(&a, n) : format_short_count(&a, n);
    if (is_recording(m) || made)
        snprintf(text, sizeof text, "%s", samples);
    else
        snprintf(text, sizeof text, "%s %s/s", samples,
                 format_count(&b, (uint64_t)(m->samples_per_second[event] + 0.5)));
    figure(l, "samples", ROLE_VALUE, text);
}

static void draw_quality(struct canvas *c, int row, const struct model *m, bool with_event) {
    const struct session_status *s = &m->status;
    const struct session_engine *wall = &s->engine[WIRE_EVENT_WALL];
    struct line l = {.c = c, .row = row, .end = c->cols};
    struct format a = {""};
    char text[96];
    if (with_event) {
        bool biased = s->engine[m->question.event].biased;
        header_event_figure(m, m->question.event, text, sizeof text);
        figure(&l, model_event_name(m, m->question.event), biased ? ROLE_WARNING : ROLE_VALUE,
               text);
    }
    draw_walker(&l, m);
    draw_samples(&l, m);
    if (m->question.event == WIRE_EVENT_WALL && wall->mechanism[0] && wall->coverage >= 0) {
        snprintf(text, sizeof text, "%.1f%%", 100 * wall->coverage);
        figure(&l, "coverage", wall->coverage < 0.9 ? ROLE_WARNING : ROLE_VALUE, text);
    }
    snprintf(text, sizeof text, "%s%s", format_count(&a, s->dropped), s->dropped ? "!" : "");
    figure(&l, "drops", s->dropped ? ROLE_WARNING : ROLE_VALUE, text);
    double failed = percent_of(model_failed(m), s->samples);
    snprintf(text, sizeof text, "%s%%%s", format_percent(&a, failed), failed >= 5 ? "!" : "");
    figure(&l, "failed", failed >= 5 ? ROLE_WARNING : ROLE_VALUE, text);
    if (main_failure(s)[0])
        figure(&l, "", ROLE_TEXT, main_failure(s));
    if (is_recording(m))
        return;
    const struct session_engine *engine = &s->engine[m->question.event];
    snprintf(text, sizeof text, "%u threads", engine->threads);
    if (engine->runs && engine->threads && m->question.event < WIRE_EVENTS)
        figure(&l, "on", ROLE_TEXT, text);
    figure(&l, "for", ROLE_TEXT, format_clock(&a, s->elapsed_ns / 1000000));
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

const char *header_notice(const struct model *m, char *out, size_t size) {
    const struct session_status *s = &m->status;
    char walker[200];
    quality_walker(s, m->settings.walk, walker, sizeof walker);
    if (s->phase == SESSION_JVM_GONE)
        snprintf(out, size, "the JVM is gone: this is what was sampled (s saves it, q quits)");
    else if (m->standstill != STANDSTILL_NONE)
        quality_standstill(m->standstill, m->jvm.pid, m->tracer, out, size);
    else if (s->message[0])
        snprintf(out, size, "%s", s->message);
    else if (s->phase == SESSION_FAILED)
        snprintf(out, size, "sampling failed: this is what was sampled until then");
    else if (header_event_trouble(m, out, size))
        return out;
    else if (walker[0])
        snprintf(out, size, "%s", walker);
    else if (s->budget.text[0])
        snprintf(out, size, "%s", s->budget.text);
    else if (s->news[0])
        snprintf(out, size, "%s", s->news);
    else
        header_event_reason(m, out, size);
    return out;
}
