#include "core/report/metrics.h"

#include <inttypes.h>
#include <string.h>

/* The three characters that a label's value cannot have as they are. */
static void add_value(struct text *out, const char *value) {
    for (const char *p = value; *p; p++) {
        if (*p == '\\' || *p == '"')
            text_add(out, "\\");
        if (*p == '\n')
            text_add(out, "\\n");
        else
            text_add_n(out, p, 1);
    }
}

static void add_family(struct text *out, const char *name, const char *type, const char *help) {
    text_addf(out, "# HELP jtop_prof_%s %s\n# TYPE jtop_prof_%s %s\n", name, help, name, type);
}

/* One line up to its value; `label` NULL: none but the JVM's. */
static void add_labels(struct text *out, const struct jvm *j, const char *name, const char *label,
                       const char *value) {
    text_addf(out, "jtop_prof_%s{pid=\"%d\",jvm=\"", name, (int)j->pid);
    add_value(out, j->name);
    text_add(out, "\"");
    if (label) {
        text_addf(out, ",%s=\"", label);
        add_value(out, value);
        text_add(out, "\"");
    }
    text_add(out, "} ");
}

static void add_count(struct text *out, const struct jvm *j, const char *name, const char *label,
                      const char *value, uint64_t n) {
    add_labels(out, j, name, label, value);
    text_addf(out, "%" PRIu64 "\n", n);
}

static void add_seconds(struct text *out, const struct jvm *j, const char *name, uint64_t ns) {
    add_labels(out, j, name, NULL, NULL);
    text_addf(out, "%.9g\n", (double)ns / 1e9);
}

static bool is_there(const struct session_engine *engine) {
    return engine->asked || engine->samples || engine->dropped;
}

/* Two lines of one family must not have the same labels. */
static const char *event_name(const struct session_status *st, int event) {
    const char *name = st->engine[event].name;
    if (!name[0] || event >= WIRE_EVENTS)
        return session_event_name[event];
    for (int i = 0; i < SESSION_EVENTS; i++)
        if (i != event && (strcmp(name, session_event_name[i]) == 0 ||
                           (i < WIRE_EVENTS && strcmp(name, st->engine[i].name) == 0)))
            return session_event_name[event];
    return name;
}

static void add_events(struct text *out, const struct session_status *st, const struct jvm *j) {
    add_family(out, "samples_total", "counter", "Samples taken, by event.");
    for (int i = 0; i < SESSION_EVENTS; i++)
        if (is_there(&st->engine[i]))
            add_count(out, j, "samples_total", "event", event_name(st, i), st->engine[i].samples);
    add_family(out, "dropped_samples_total", "counter",
               "Samples lost because the ring was full, by event.");
    for (int i = 0; i < SESSION_EVENTS; i++)
        if (is_there(&st->engine[i]))
            add_count(out, j, "dropped_samples_total", "event", event_name(st, i),
                      st->engine[i].dropped);
    add_family(out, "engine_running", "gauge", "1 while the event is sampled.");
    for (int i = 0; i < SESSION_EVENTS; i++)
        if (is_there(&st->engine[i]))
            add_count(out, j, "engine_running", "event", event_name(st, i),
                      st->phase == SESSION_RUNNING && st->engine[i].runs);
}

static void add_walks(struct text *out, const struct session_status *st, const struct jvm *j) {
    add_family(out, "failed_walks_total", "counter", "Stacks that ended early, by reason.");
    for (int i = 0; i < WIRE_FAILURES; i++)
        if (st->failed[i])
            add_count(out, j, "failed_walks_total", "reason", session_failure_name[i],
                      st->failed[i]);
}

void metrics_write(struct text *out, const struct session_status *st, const struct jvm *j,
                   uint64_t own_rss) {
    add_family(out, "running", "gauge", "1 while the JVM is sampled.");
    add_count(out, j, "running", NULL, NULL, st->phase == SESSION_RUNNING);
    add_family(out, "profile_seconds", "gauge", "Time sampled in this profile.");
    add_seconds(out, j, "profile_seconds", st->elapsed_ns);
    add_events(out, st, j);
    add_walks(out, st, j);
    add_family(out, "agent_cpu_seconds_total", "counter",
               "CPU time of the agent in the JVM, signal handlers included.");
    add_seconds(out, j, "agent_cpu_seconds_total", st->agent_ns);
    add_family(out, "frontend_cpu_seconds_total", "counter", "CPU time of the reading process.");
    add_seconds(out, j, "frontend_cpu_seconds_total", st->frontend_ns);
    add_family(out, "missed_seconds_total", "counter",
               "Time without sampling because the reading process was stopped.");
    add_seconds(out, j, "missed_seconds_total", st->missed_ns);
    add_family(out, "frontend_resident_bytes", "gauge", "Memory of the reading process.");
    add_count(out, j, "frontend_resident_bytes", NULL, NULL, own_rss);
    add_family(out, "jvm_resident_bytes", "gauge", "Memory of the JVM.");
    add_count(out, j, "jvm_resident_bytes", NULL, NULL, j->rss_bytes);
}
