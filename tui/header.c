#include "tui/header.h"

#include "tui/format.h"
#include "tui/quality.h"
#include "tui/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GAP 2
#define PRECISE_COLS 110 /* that the long form wants */

/* A line being filled from the left with "label value" figures. */
struct line {
    struct canvas *c;
    int row, at, end;
};

/* A figure that does not fit is left out. */
static void figure(struct line *l, const char *label, enum role role, const char *value) {
    int gap = l->at ? GAP : 0;
    int label_cols = canvas_width(l->c, label), value_cols = canvas_width(l->c, value);
    int between = label_cols > 0;
    if (l->at + gap + label_cols + between + value_cols > l->end)
        return;
    l->at += gap;
    l->at += canvas_text(l->c, l->row, l->at, label_cols, ROLE_LABEL, label) + between;
    l->at += canvas_text(l->c, l->row, l->at, value_cols, role, value);
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
    snprintf(rest, sizeof rest, "pid %d  %s%s", (int)j->pid, known(j->version),
             j->container ? "  container" : "");
    int at = canvas_text(c, 0, 0, c->cols, ROLE_TITLE, "jtop-prof") + GAP;
    int rest_cols = canvas_width(c, rest), room = c->cols - at - rest_cols - up_cols - 2 * GAP;
    if (room < 16) { /* the version goes first */
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
    snprintf(text, sizeof text, "%s%%", format_percent(&a, j->cpu_percent));
    figure(&l, "cpu", ROLE_VALUE, text);
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
    return most ? session_failure_name[most] : "";
}

static bool counts_bytes(const char *event) {
    return !strcmp(event, "alloc") || !strcmp(event, "nativemem");
}

/* Recompiling is asked for, and its price is to be seen: a walker that goes without saying makes
 * room for it. */
static void draw_walker(struct line *l, const struct model *m) {
    const struct session_status *s = &m->status;
    bool precise = m->settings.precise && !is_recording(m);
    char text[64];
    if (!precise || strcmp(s->walker, session_walk_name[WIRE_WALK_VM]) != 0)
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

static void draw_quality(struct canvas *c, const struct model *m) {
    const struct session_status *s = &m->status;
    struct line l = {.c = c, .row = 2, .end = c->cols};
    struct format a = {""}, b = {""};
    char text[96];
    snprintf(text, sizeof text, "%s %s", known(s->mechanism),
             counts_bytes(s->event) ? format_bytes(&a, s->interval)
                                    : format_interval(&a, s->interval));
    figure(&l, known(s->event), ROLE_VALUE, text);
    draw_walker(&l, m);
    const char *samples =
        s->samples < 1000000 ? format_count(&a, s->samples) : format_short_count(&a, s->samples);
    if (is_recording(m))
        snprintf(text, sizeof text, "%s", samples);
    else
        snprintf(text, sizeof text, "%s %s/s", samples,
                 format_count(&b, (uint64_t)(m->samples_per_second + 0.5)));
    figure(&l, "samples", ROLE_VALUE, text);
    snprintf(text, sizeof text, "%s%s", format_count(&a, s->dropped), s->dropped ? "!" : "");
    figure(&l, "drops", s->dropped ? ROLE_WARNING : ROLE_VALUE, text);
    double failed = percent_of(model_failed(m), s->samples);
    snprintf(text, sizeof text, "%s%%%s", format_percent(&a, failed), failed >= 5 ? "!" : "");
    figure(&l, "failed", failed >= 5 ? ROLE_WARNING : ROLE_VALUE, text);
    if (main_failure(s)[0])
        figure(&l, "", ROLE_TEXT, main_failure(s));
    if (is_recording(m))
        return;
    snprintf(text, sizeof text, "%u threads", s->armed_threads);
    figure(&l, "on", ROLE_TEXT, text);
    figure(&l, "for", ROLE_TEXT, format_clock(&a, s->elapsed_ns / 1000000));
}

void header_draw(struct canvas *c, const struct model *m) {
    draw_jvm(c, m);
    draw_figures(c, m);
    draw_quality(c, m);
}

static const char *state_word(const struct model *m) {
    static const char *const word[] = {
        [SESSION_RUNNING] = "LIVE",      [SESSION_STOPPED] = "STOPPED",
        [SESSION_JVM_GONE] = "JVM GONE", [SESSION_REPLAYED] = "RECORDING",
        [SESSION_FAILED] = "FAILED",
    };
    return m->held ? "PAUSED" : word[m->status.phase];
}

/* What the view's numbers are of, where that is not everything. A long thread's name gives way. */
static void draw_question(struct canvas *c, struct area a, const struct model *m) {
    const struct model_question *q = &m->question;
    bool zoomed = model_zoomed(q);
    char name[MODEL_NAME_SIZE], share[32] = "", rest[LINE_EDITOR_BYTES + 64];
    bool filtered = q->filter[0], carriers = q->carriers && !q->virtual_id;
    if ((zoomed || filtered) && m->snapshot) {
        struct format f = {""};
        snprintf(share, sizeof share, "%s%% of all",
                 format_percent(&f, percent_of(m->snapshot->samples, m->all_samples)));
    }
    snprintf(rest, sizeof rest, "%s%s%s%s%s%s", filtered ? "/" : "", q->filter,
             filtered && share[0] ? "  " : "", share,
             carriers && (filtered || share[0]) ? "  " : "", carriers ? "by carrier" : "");
    int at = a.col, end = a.col + a.cols;
    if (zoomed) {
        int room = a.cols - canvas_width(c, rest) - 9;
        at += canvas_text(c, a.row, at, a.cols, ROLE_VALUE, "thread ");
        at += canvas_middle(c, a.row, at, room > 8 ? room : 8, ROLE_VALUE,
                            model_zoom_name(m, name, sizeof name)) +
              GAP;
    }
    canvas_head(c, a.row, at, end - at, ROLE_VALUE, rest);
}

void header_draw_tabs(struct canvas *c, int row, const struct model *m, enum live_view view) {
    int at = 0;
    for (int i = 0; i < VIEWS; i++) {
        bool on = i == (int)view;
        at += canvas_textf(c, row, at, c->cols - at, on ? ROLE_TAB_ON : ROLE_TAB,
                           on ? "[%c %s]" : " %c %s ", views[i]->key, views[i]->title);
    }
    const char *state = state_word(m);
    int state_cols = canvas_width(c, state) + 2;
    char tag[24];
    draw_question(c, (struct area){row, at + 1, 1, c->cols - at - state_cols - 2}, m);
    snprintf(tag, sizeof tag, " %s ", state);
    canvas_right(c, row, c->cols - state_cols, state_cols,
                 m->held || m->status.phase != SESSION_RUNNING ? ROLE_STATE_HELD : ROLE_STATE, tag);
}

const char *header_notice(const struct model *m, char *out, size_t size) {
    const struct session_status *s = &m->status;
    char walker[200];
    quality_walker(s, m->settings.walk, walker, sizeof walker);
    if (s->phase == SESSION_JVM_GONE)
        snprintf(out, size, "the JVM is gone: this is what was sampled (s saves it, q quits)");
    else if (s->message[0])
        snprintf(out, size, "%s", s->message);
    else if (s->phase == SESSION_FAILED)
        snprintf(out, size, "sampling failed: this is what was sampled until then");
    else if (walker[0])
        snprintf(out, size, "%s", walker);
    else if (s->news[0])
        snprintf(out, size, "%s", s->news);
    else if (s->reason[0])
        snprintf(out, size, "%s: %s", s->mechanism, s->reason);
    else
        snprintf(out, size, "%s", "");
    return out;
}
