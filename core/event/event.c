#include "core/event/event.h"

#include "core/base/file.h"
#include "core/base/nearest.h"
#include "core/event/event_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct event_places event_places = {
    .devices = "/sys/bus/event_source/devices",
    .tracefs = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"},
};

/* The events that are not perf events. */
static const struct {
    const char *name;
    enum wire_event event;
    enum wire_mechanism mechanism;
} basic[] = {
    {"cpu", WIRE_EVENT_CPU, WIRE_MECHANISM_AUTO},
    {"ctimer", WIRE_EVENT_CPU, WIRE_MECHANISM_CTIMER},
    {"itimer", WIRE_EVENT_CPU, WIRE_MECHANISM_ITIMER},
    {"safepoint", WIRE_EVENT_CPU, WIRE_MECHANISM_SAFEPOINT},
    {"wall", WIRE_EVENT_WALL, WIRE_MECHANISM_AUTO},
    {"alloc", WIRE_EVENT_ALLOC, WIRE_MECHANISM_AUTO},
    {"lock", WIRE_EVENT_LOCK, WIRE_MECHANISM_AUTO},
    {"nativemem", WIRE_EVENT_NATIVEMEM, WIRE_MECHANISM_AUTO},
    {"nativelock", WIRE_EVENT_NATIVELOCK, WIRE_MECHANISM_AUTO},
};

static const size_t basic_count = sizeof basic / sizeof basic[0];

const char *const event_names[] = {
    "cpu",
    "ctimer",
    "itimer",
    "safepoint",
    "wall",
    "alloc",
    "lock",
    "nativemem",
    "nativelock",
    "page-faults",
    "minor-faults",
    "major-faults",
    "context-switches",
    "cpu-migrations",
    "alignment-faults",
    "emulation-faults",
    "cycles",
    "ref-cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "L1-dcache-load-misses",
    "LLC-load-misses",
    "dTLB-load-misses",
    "sched:sched_switch",
    "kprobe:schedule",
    "uprobe:malloc",
    "mem:malloc:x",
    NULL,
};

int event_wrong(struct err *e, int code, const char *text, const char *fmt, ...) {
    char why[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return err_exit_as(e, ERR_EXIT_ARGUMENT, code, "event \"%.100s\": %s", text, why);
}

int event_read_number(const char *path, uint64_t *out) {
    char text[64] = "";
    int r = file_line(path, text, sizeof text);
    if (r < 0)
        return r;
    return event_number(text, out) ? 0 : -EINVAL;
}

bool event_number(const char *text, uint64_t *out) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    /* Not octal: users who do not write C expect "010" to be ten. */
    int base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
    *out = strtoull(text, &end, base);
    return errno == 0 && *end == '\0';
}

int event_cut_offset(char *text, uint64_t *offset) {
    char *plus = strrchr(text, '+');
    *offset = 0;
    if (!plus)
        return 0;
    *plus = '\0';
    return event_number(plus + 1, offset) ? 0 : -EINVAL;
}

const char *event_nearest(const char *text) {
    const char *best = NULL;
    /* Up to a third of the word may be wrong. */
    int best_distance = 2 + 2 * (int)(strlen(text) / 3);
    if (best_distance > 9)
        best_distance = 9;
    for (size_t i = 0; i < basic_count; i++) {
        int d = nearest_distance(text, basic[i].name);
        if (d < best_distance) {
            best_distance = d;
            best = basic[i].name;
        }
    }
    const char *name;
    for (size_t i = 0; (name = event_perf_name(i)) != NULL; i++) {
        int d = nearest_distance(text, name);
        if (d < best_distance) {
            best_distance = d;
            best = name;
        }
    }
    return best;
}

static bool parse_basic(const char *text, struct wire_engine_request *out) {
    for (size_t i = 0; i < basic_count; i++) {
        if (strcmp(text, basic[i].name) != 0)
            continue;
        out->event = basic[i].event;
        out->mechanism = basic[i].mechanism;
        return true;
    }
    return false;
}

static bool has_prefix(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_probe(const char *text) {
    return has_prefix(text, "kprobe:") || has_prefix(text, "kretprobe:") ||
           has_prefix(text, "uprobe:") || has_prefix(text, "uretprobe:");
}

/* "cpu/event=0x3c/": it ends with a slash and has another one inside. */
static bool is_pmu(const char *text) {
    size_t length = strlen(text);
    const char *slash = strchr(text, '/');
    return slash && slash > text && length > 1 && text[length - 1] == '/' &&
           slash != text + length - 1;
}

/* "sched:sched_switch", but no C++ name with "::" and no method with a threshold. */
static bool is_tracepoint(const char *text) {
    const char *colon = strchr(text, ':');
    return colon && colon[1] != ':' && strchr(text, '.') == NULL && strchr(text, '(') == NULL;
}

bool event_is_known(const char *text) {
    struct wire_engine_request unused = {0};
    return parse_basic(text, &unused) || event_perf_parse(text, &unused) ||
           has_prefix(text, "mem:") || has_prefix(text, "trace:") || is_probe(text) ||
           is_pmu(text) || is_tracepoint(text);
}

static int parse(const struct event_places *places, const char *text,
                 struct wire_engine_request *out, struct err *e) {
    if (parse_basic(text, out) || event_perf_parse(text, out))
        return 0;
    if (has_prefix(text, "mem:"))
        return event_breakpoint_parse(text, out, e);
    if (has_prefix(text, "trace:"))
        return event_trace_id_parse(text, out, e);
    if (is_probe(text))
        return event_probe_parse(places, text, out, e);
    if (is_pmu(text))
        return event_pmu_parse(places, text, out, e);
    if (is_tracepoint(text))
        return event_tracepoint_parse(places, text, out, e);
    if (strchr(text, '.') && !strstr(text, "::"))
        return event_method_parse(text, out, e);
    return event_function_parse(text, out, e);
}

int event_parse_in(const struct event_places *places, const char *text,
                   struct wire_engine_request *out, struct err *e) {
    *out = (struct wire_engine_request){.event = WIRE_EVENT_PERF};
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p <= ' ' || *p == 0x7f)
            return event_wrong(e, EINVAL, text, "the name of an event has no blanks");
    if (!*text)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "the name of the event is empty");
    int r = parse(places, text, out, e);
    if (r < 0)
        return r;
    if (out->event != WIRE_EVENT_METHOD)
        snprintf(out->name, sizeof out->name, "%s", text);
    return 0;
}

int event_parse(const char *text, struct wire_engine_request *out, struct err *e) {
    return event_parse_in(&event_places, text, out, e);
}

uint64_t event_default_interval(enum wire_event event) {
    static const uint64_t interval[WIRE_EVENTS] = {
        [WIRE_EVENT_CPU] = 10000000, [WIRE_EVENT_WALL] = 50000000, [WIRE_EVENT_ALLOC] = 524287,
        [WIRE_EVENT_LOCK] = 10000,   [WIRE_EVENT_PERF] = 1,
    };
    return interval[event];
}

enum event_measure event_measure(enum wire_event event) {
    static const enum event_measure measure[WIRE_EVENTS] = {
        [WIRE_EVENT_ALLOC] = EVENT_BYTES,
        [WIRE_EVENT_NATIVEMEM] = EVENT_BYTES,
        [WIRE_EVENT_PERF] = EVENT_COUNT,
    };
    return measure[event];
}

int event_java_version(const char *vm_version) {
    char *end;
    if (*vm_version < '1' || *vm_version > '9')
        return 0;
    long major = strtol(vm_version, &end, 10);
    if (major == 1 && *end == '.')
        return (int)strtol(end + 1, NULL, 10);
    /* Until JDK 8, HotSpot had version numbers of its own, such as "25.392-b08". JDK 25 has
     * "25.0.1+8". Only the old numbers have a "b" before the build's number; the new ones have a
     * "+". */
    if (*end == '.' && (end = strstr(end, "-b")) && end[2] >= '0' && end[2] <= '9' &&
        !strchr(vm_version, '+'))
        return major == 25 ? 8 : major == 24 || major == 23 ? 7 : 0;
    return major > 0 && major < 1000 ? (int)major : 0;
}
