#include "core/report/quality.h"

#include "core/wire/wire_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define THROTTLED_MUCH 0.05

static void add_failed(struct export_quality *q, const struct session_status *st) {
    const int most = (int)(sizeof q->failed / sizeof q->failed[0]);
    for (int i = 1; i < WIRE_FAILURES && q->failed_count < most; i++) {
        if (!st->failed[i] || i == WIRE_FAILURE_NO_JAVA) /* this failure was requested */
            continue;
        q->failed[q->failed_count].name = wire_failure_name[i];
        q->failed[q->failed_count++].samples = st->failed[i];
    }
}

static bool is_made_of_another(int event) {
    return event == EVENT_LIVE || event == EVENT_LEAK;
}

const char *quality_event_name(const struct session_status *st, int event) {
    const char *name = st->engine[event].name;
    return name[0] && !is_made_of_another(event) ? name : event_kind_name[event];
}

uint64_t quality_failed(const struct session_status *st) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < WIRE_FAILURES; i++)
        if (wire_failure_is_error(i))
            sum += st->failed[i];
    return sum;
}

const char *quality_how(const struct session_status *st, int event, char *out, size_t size) {
    const struct session_engine *engine = &st->engine[event];
    bool first = !strcmp(engine->mechanism, wire_mechanism_name[WIRE_MECHANISM_PERF]) ||
                 !strcmp(engine->mechanism, wire_mechanism_name[WIRE_MECHANISM_SIGTRAP]);
    bool other = event == WIRE_EVENT_CPU && engine->mechanism[0] && engine->reason[0] && !first;
    snprintf(out, size, "%s%s%s", other ? engine->mechanism : "", other ? ": " : "",
             other ? engine->reason : "");
    return out;
}

void quality_limit(struct export_quality *q, const struct session_cpu *cpu) {
    double share = cpu->periods ? (double)cpu->throttled / (double)cpu->periods : 0;
    if (cpu->quota <= 0 || share <= THROTTLED_MUCH)
        return;
    q->quota = cpu->quota;
    q->throttled = share;
}

void quality_of_event(struct export_quality *q, const struct session_status *st, int event,
                      const struct jvm *j, struct quality_text *room) {
    const struct session_engine *engine = &st->engine[event];
    bool usual = !st->walker[0] || !strcmp(st->walker, wire_walk_name[WIRE_WALK_VM]);
    snprintf(room->jvm, sizeof room->jvm, "%s (pid %d)", j->name, (int)j->pid);
    quality_precise(st, room->precise, sizeof room->precise);
    quality_how(st, event, room->how, sizeof room->how);
    *q = (struct export_quality){.event = quality_event_name(st, event),
                                 .unit = event_kind_unit[event],
                                 .interval = engine->interval,
                                 .elapsed_ns = st->elapsed_ns,
                                 .dropped = engine->dropped,
                                 .jvm = room->jvm,
                                 .walker = usual ? NULL : st->walker,
                                 .precise = st->recompiled ? room->precise : NULL,
                                 .how = room->how[0] ? room->how : NULL,
                                 .budget = st->budget.text[0] ? st->budget.text : NULL,
                                 .biased = engine->biased,
                                 .windows = st->windows,
                                 .window_ns = st->window_ns,
                                 .day_ns = st->day_ns,
                                 .undated = st->undated,
                                 .uncounted = !session_engine_is_counted(engine)};
    if (event == WIRE_EVENT_WALL && engine->coverage > 0)
        q->coverage = engine->coverage;
    for (int i = 0; i < EVENT_KINDS; i++)
        if (i != event && !is_made_of_another(i) && st->engine[i].samples)
            q->several = true;
    if (q->several)
        q->walks = st->samples;
    add_failed(q, st);
}

const char *quality_walker(const struct session_status *st, enum wire_walk asked, char *out,
                           size_t size) {
    const char *name = asked < WIRE_WALKS ? wire_walk_name[asked] : "";
    /* The walker of a recording was chosen by the process that made it. */
    if (!st->walker[0] || st->phase == SESSION_REPLAYED || !strcmp(st->walker, name))
        snprintf(out, size, "%s", "");
    else
        snprintf(out, size, "walker %s instead of %s%s%s", st->walker, name,
                 st->reason[0] ? ": " : "", st->reason);
    return out;
}

const char *quality_precise(const struct session_status *st, char *out, size_t size) {
    snprintf(out, size, "%" PRIu64 " method%s recompiled, %.0f ms", st->recompiled,
             st->recompiled == 1 ? "" : "s", (double)st->recompile_ns / 1e6);
    return out;
}

const char *quality_standstill(enum standstill why, pid_t pid, pid_t tracer, char *out,
                               size_t size) {
    char who[48] = "";
    if (tracer > 0)
        snprintf(who, sizeof who, ", process %d", (int)tracer);
    if (why == STANDSTILL_STOPPED)
        snprintf(out, size, "JVM %d is stopped by a signal: kill -CONT %d continues it", (int)pid,
                 (int)pid);
    else if (why == STANDSTILL_TRACED)
        snprintf(out, size, "JVM %d is held by a debugger%s: continue it there", (int)pid, who);
    else if (why == STANDSTILL_FROZEN)
        snprintf(out, size,
                 "JVM %d is frozen with its control group: thaw it (docker unpause, systemctl "
                 "thaw)",
                 (int)pid);
    else
        snprintf(out, size, "%s", "");
    return out;
}
