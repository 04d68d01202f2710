#include "core/report/metrics.h"

#include "core/export/svg_text.h"
#include "core/wire/wire_names.h"

#include <inttypes.h>
#include <string.h>

/* Labels. */

/* Three characters must be escaped. Invalid UTF-8 is replaced, because it makes a reader reject the
 * whole text. */
static void add_value(struct text *out, const char *value) {
    for (const unsigned char *p = (const unsigned char *)value, *from = p; *p; from = p) {
        const bool valid = svg_text_next(&p) != SVG_TEXT_NONE;
        if (*from == '\n')
            text_add(out, "\\n");
        else if (!valid)
            text_add(out, "?");
        else if (*from == '\\' || *from == '"')
            text_addf(out, "\\%c", *from);
        else
            text_add_n(out, (const char *)from, (size_t)(p - from));
    }
}

static void add_label(struct text *out, const char *label, const char *value) {
    text_addf(out, ",%s=\"", label);
    add_value(out, value);
    text_add(out, "\"");
}

/* Writes one line up to the end of its labels; add_end writes the rest. */
static void begin_line(struct text *out, const struct jvm *j, const char *name) {
    text_addf(out, "jtop_prof_%s{pid=\"%d\",jvm=\"", name, (int)j->pid);
    add_value(out, j->name);
    text_add(out, "\"");
}

static void add_count(struct text *out, const struct jvm *j, const char *name, const char *label,
                      const char *value, uint64_t n) {
    begin_line(out, j, name);
    if (label)
        add_label(out, label, value);
    text_addf(out, "} %" PRIu64 "\n", n);
}

static void add_real(struct text *out, const struct jvm *j, const char *name, double value) {
    begin_line(out, j, name);
    text_addf(out, "} %.9g\n", value);
}

static double seconds(uint64_t ns) {
    return (double)ns / 1e9;
}

/* Functions that write one JVM's lines of a family. */

static void running(struct text *out, const char *name, const struct metrics_jvm *m) {
    add_count(out, m->jvm, name, NULL, NULL, m->status->phase == SESSION_RUNNING);
}

static void profile_seconds(struct text *out, const char *name, const struct metrics_jvm *m) {
    add_real(out, m->jvm, name, seconds(m->status->elapsed_ns));
}

static bool is_there(const struct session_engine *engine) {
    return engine->asked || engine->samples || engine->dropped;
}

/* Returns the event's label. Two lines of one family must not have the same labels. */
static const char *event_name(const struct session_status *st, int event) {
    const char *name = st->engine[event].name;
    if (!name[0] || event >= WIRE_EVENTS)
        return event_kind_name[event];
    for (int i = 0; i < EVENT_KINDS; i++)
        if (i != event && (strcmp(name, event_kind_name[i]) == 0 ||
                           (i < WIRE_EVENTS && strcmp(name, st->engine[i].name) == 0)))
            return event_kind_name[event];
    return name;
}

static void by_event(struct text *out, const char *name, const struct metrics_jvm *m,
                     uint64_t (*value)(const struct session_status *st, int event)) {
    for (int i = 0; i < EVENT_KINDS; i++)
        if (is_there(&m->status->engine[i]))
            add_count(out, m->jvm, name, "event", event_name(m->status, i), value(m->status, i));
}

static uint64_t samples_of(const struct session_status *st, int event) {
    return st->engine[event].samples;
}

static uint64_t dropped_of(const struct session_status *st, int event) {
    return st->engine[event].dropped;
}

static uint64_t runs(const struct session_status *st, int event) {
    return st->phase == SESSION_RUNNING && st->engine[event].runs;
}

static uint64_t interval_of(const struct session_status *st, int event) {
    return st->engine[event].interval;
}

static void samples(struct text *out, const char *name, const struct metrics_jvm *m) {
    by_event(out, name, m, samples_of);
}

static void dropped(struct text *out, const char *name, const struct metrics_jvm *m) {
    by_event(out, name, m, dropped_of);
}

static void engine_running(struct text *out, const char *name, const struct metrics_jvm *m) {
    by_event(out, name, m, runs);
}

static void interval(struct text *out, const char *name, const struct metrics_jvm *m) {
    by_event(out, name, m, interval_of);
}

static void failed_walks(struct text *out, const char *name, const struct metrics_jvm *m) {
    for (int i = 0; i < WIRE_FAILURES; i++)
        if (m->status->failed[i])
            add_count(out, m->jvm, name, "reason", wire_failure_name[i], m->status->failed[i]);
}

static void agent_cpu(struct text *out, const char *name, const struct metrics_jvm *m) {
    add_real(out, m->jvm, name, seconds(m->status->agent_ns));
}

static void missed(struct text *out, const char *name, const struct metrics_jvm *m) {
    add_real(out, m->jvm, name, seconds(m->status->missed_ns));
}

/* How --max-overhead is kept; only if it was requested. */

static void budget_limit(struct text *out, const char *name, const struct metrics_jvm *m) {
    if (m->status->budget.limit_ppm)
        add_real(out, m->jvm, name, m->status->budget.limit_ppm / 1e6);
}

static void budget_used(struct text *out, const char *name, const struct metrics_jvm *m) {
    if (m->status->budget.limit_ppm)
        add_real(out, m->jvm, name, m->status->budget.measured_ppm / 1e6);
}

static void interval_factor(struct text *out, const char *name, const struct metrics_jvm *m) {
    if (m->status->budget.limit_ppm)
        add_count(out, m->jvm, name, NULL, NULL, m->status->budget.factor);
}

static void jvm_resident(struct text *out, const char *name, const struct metrics_jvm *m) {
    add_count(out, m->jvm, name, NULL, NULL, m->jvm->rss_bytes);
}

static void top_methods(struct text *out, const char *name, const struct metrics_jvm *m) {
    for (uint32_t i = 0; m->top && i < m->top->methods; i++) {
        begin_line(out, m->jvm, name);
        add_label(out, "event", m->top->event);
        add_label(out, "method", m->top->method[i].name);
        text_addf(out, "} %.6g\n", m->top->method[i].share);
    }
}

static const struct family {
    const char *name, *type, *help;
    void (*write)(struct text *out, const char *name, const struct metrics_jvm *m);
} families[] = {
    {"running", "gauge", "1 while the JVM is sampled.", running},
    {"profile_seconds", "gauge", "Time sampled in this profile.", profile_seconds},
    {"samples_total", "counter", "Samples taken, by event.", samples},
    {"dropped_samples_total", "counter",
     "Samples lost because the sample buffer (-b) was full, by event.", dropped},
    {"engine_running", "gauge", "1 while the event is sampled.", engine_running},
    {"interval", "gauge", "Interval between two samples, by event: ns, bytes or counts.", interval},
    {"failed_walks_total", "counter", "Stacks that ended early, by reason.", failed_walks},
    {"agent_cpu_seconds_total", "counter",
     "CPU time of the agent in the JVM, signal handlers included.", agent_cpu},
    {"missed_seconds_total", "counter",
     "Time without sampling because the profiler process was stopped.", missed},
    {"budget_ratio", "gauge", "CPUs that the agent may use (--max-overhead).", budget_limit},
    {"budget_used_ratio", "gauge",
     "CPUs that the agent used over the last seconds (--max-overhead).", budget_used},
    {"interval_factor", "gauge",
     "Factor by which the sampling intervals were raised (--max-overhead).", interval_factor},
    {"jvm_resident_bytes", "gauge", "Memory of the JVM.", jvm_resident},
    {"method_self_ratio", "gauge",
     "The hottest methods' own share of the event's weight over the last minute, 0 to 1; at most "
     "ten series per JVM at a time.",
     top_methods},
};

/* The complete output. */

static void add_family(struct text *out, const char *name, const char *type, const char *help) {
    text_addf(out, "# HELP jtop_prof_%s %s\n# TYPE jtop_prof_%s %s\n", name, help, name, type);
}

static void write_families(struct text *out, const struct metrics_jvm *jvm, uint32_t count) {
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *f = &families[i];
        add_family(out, f->name, f->type, f->help);
        for (uint32_t k = 0; k < count; k++)
            f->write(out, f->name, &jvm[k]);
    }
}

static const char own_cpu[] = "frontend_cpu_seconds_total",
                  own_memory[] = "frontend_resident_bytes";

static void add_own_cpu(struct text *out) {
    add_family(out, own_cpu, "counter", "CPU time of the profiler process.");
}

static void add_own_memory(struct text *out) {
    add_family(out, own_memory, "gauge", "Memory of the profiler process.");
}

void metrics_write(struct text *out, const struct session_status *st, const struct jvm *j,
                   uint64_t own_rss) {
    write_families(out, &(struct metrics_jvm){.status = st, .jvm = j}, 1);
    add_own_cpu(out);
    add_real(out, j, own_cpu, seconds(st->frontend_ns));
    add_own_memory(out);
    add_count(out, j, own_memory, NULL, NULL, own_rss);
}

void metrics_write_all(struct text *out, const struct metrics_jvm *jvm, uint32_t count,
                       uint64_t own_rss, uint64_t own_cpu_ns) {
    write_families(out, jvm, count);
    add_family(out, "jvms", "gauge", "JVMs that are profiled.");
    text_addf(out, "jtop_prof_jvms %" PRIu32 "\n", count);
    add_own_cpu(out);
    text_addf(out, "jtop_prof_%s %.9g\n", own_cpu, seconds(own_cpu_ns));
    add_own_memory(out);
    text_addf(out, "jtop_prof_%s %" PRIu64 "\n", own_memory, own_rss);
    add_family(out, "build_info", "gauge", "1; the version is a label.");
    text_addf(out, "jtop_prof_build_info{version=\"%s\"} 1\n", JTOP_VERSION);
}
