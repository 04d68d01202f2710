#include "core/http/serve/api/api_jvms.h"

#include "core/report/quality.h"
#include "core/session/share/share.h"
#include "core/wire/wire_names.h"

#include <unistd.h>

void api_jvms_members(struct json *j, const struct jvm *jvm) {
    json_number(j, "pid", (uint64_t)jvm->pid);
    json_string(j, "name", jvm->name);
    json_string(j, "version", jvm->version);
    json_string(j, "user", jvm->user);
    json_number(j, "uptimeMs", jvm->uptime_ms);
    json_real(j, "cpuPercent", jvm->cpu_percent);
    json_number(j, "rssBytes", jvm->rss_bytes);
    json_number(j, "threads", jvm->threads);
}

void api_jvms_write(struct json *j, const struct jvm *jvm) {
    json_begin(j, "jvm", '{');
    api_jvms_members(j, jvm);
    json_number(j, "heapUsedBytes", jvm->heap_used_bytes);
    json_number(j, "heapMaxBytes", jvm->heap_max_bytes);
    json_end(j, '}');
}

/* "running", "stopped", "gone", "failed" */
static const char *api_jvms_phase(enum session_phase phase) {
    switch (phase) {
    case SESSION_RUNNING:
        return "running";
    case SESSION_JVM_GONE:
        return "gone";
    case SESSION_FAILED:
        return "failed";
    case SESSION_STOPPED:
    case SESSION_REPLAYED:
        break;
    }
    return "stopped";
}

static void write_failures(struct json *j, const struct session_status *st) {
    json_begin(j, "failures", '{');
    for (uint32_t i = 1; i < WIRE_FAILURES; i++)
        if (st->failed[i])
            json_number(j, wire_failure_name[i], st->failed[i]);
    json_end(j, '}');
    json_number(j, "failed", quality_failed(st));
}

void api_jvms_status(struct json *j, const struct session_status *st) {
    json_begin(j, "status", '{');
    json_string(j, "phase", api_jvms_phase(st->phase));
    json_string(j, "message", st->message);
    json_number(j, "elapsedMs", st->elapsed_ns / 1000000);
    json_number(j, "samples", st->samples);
    json_number(j, "dropped", st->dropped);
    write_failures(j, st);
    json_number(j, "agentCpuMs", st->agent_ns / 1000000);
    /* The cost of starting is not a useful share of such a short time. */
    bool counts = st->elapsed_ns >= 1000000000;
    json_real(j, "overheadPercent",
              counts ? 100.0 * (double)st->agent_ns / (double)st->elapsed_ns : 0);
    json_number(j, "lookingOn", st->reader > 0 ? (uint64_t)st->reader : 0);
    json_string(j, "walker", st->walker);
    json_string(j, "budget", st->budget.text);
    json_number(j, "frontendCpuMs", st->frontend_ns / 1000000);
    json_number(j, "missedMs", st->missed_ns / 1000000);
    json_end(j, '}');
}

static bool is_there(const struct session_engine *engine) {
    return engine->asked || engine->samples || engine->dropped;
}

void api_jvms_events(struct json *j, const struct session_status *st) {
    json_begin(j, "events", '[');
    for (int i = 0; i < EVENT_KINDS; i++) {
        const struct session_engine *engine = &st->engine[i];
        if (!is_there(engine))
            continue;
        json_begin(j, NULL, '{');
        json_string(j, "name", quality_event_name(st, i));
        json_string(j, "unit", event_kind_unit[i]);
        json_bool(j, "asked", engine->asked);
        json_bool(j, "runs", engine->runs);
        json_bool(j, "biased", engine->biased);
        json_number(j, "samples", engine->samples);
        json_number(j, "dropped", engine->dropped);
        json_number(j, "interval", engine->interval);
        json_string(j, "mechanism", engine->mechanism);
        json_string(j, "reason", engine->reason);
        json_end(j, '}');
    }
    json_end(j, ']');
}

pid_t api_jvms_reader(pid_t jvm) {
    const pid_t reader = share_find(jvm);
    return reader == getpid() ? 0 : reader;
}
