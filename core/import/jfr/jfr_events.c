#include "core/import/jfr/jfr_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *type;
    const char *weight, *class;
    enum wire_event event;
} rows[JFR_ROWS] = {
    [JFR_EXECUTION] = {"jdk.ExecutionSample", NULL, NULL, WIRE_EVENT_CPU},
    [JFR_EXECUTION_WALL] = {NULL, NULL, NULL, WIRE_EVENT_WALL},
    [JFR_CPU_TIME] = {"jdk.CPUTimeSample", "samplingPeriod", NULL, WIRE_EVENT_CPU},
    [JFR_NATIVE_METHOD] = {"jdk.NativeMethodSample", NULL, NULL, WIRE_EVENT_PERF},
    [JFR_WALL] = {"profiler.WallClockSample", NULL, NULL, WIRE_EVENT_WALL},
    [JFR_ALLOC_SAMPLE] = {"jdk.ObjectAllocationSample", "weight", "objectClass", WIRE_EVENT_ALLOC},
    [JFR_ALLOC_IN] = {"jdk.ObjectAllocationInNewTLAB", "tlabSize", "objectClass", WIRE_EVENT_ALLOC},
    [JFR_ALLOC_OUTSIDE] = {"jdk.ObjectAllocationOutsideTLAB", "allocationSize", "objectClass",
                           WIRE_EVENT_ALLOC},
    [JFR_LIVE] = {"profiler.LiveObject", "allocationSize", "objectClass", WIRE_EVENT_ALLOC},
    [JFR_ENTER] = {"jdk.JavaMonitorEnter", "duration", "monitorClass", WIRE_EVENT_LOCK},
    [JFR_PARK] = {"jdk.ThreadPark", "duration", "parkedClass", WIRE_EVENT_LOCK},
    [JFR_NATIVE_LOCK] = {"profiler.NativeLock", "duration", NULL, WIRE_EVENT_NATIVELOCK},
    [JFR_MALLOC] = {"profiler.Malloc", "size", NULL, WIRE_EVENT_NATIVEMEM},
    [JFR_METHOD] = {"jdk.MethodTrace", "duration", NULL, WIRE_EVENT_METHOD},
    [JFR_METHOD_TRACE] = {"profiler.MethodTrace", "duration", NULL, WIRE_EVENT_METHOD},
    [JFR_NAMED] = {"profiler.EventSample", "weight", NULL, WIRE_EVENT_PERF},
    [JFR_FREE] = {"profiler.Free", NULL, NULL, WIRE_EVENTS},
    [JFR_PAUSE] = {"jdk.GCPhasePause", "duration", NULL, WIRE_EVENTS},
    [JFR_COLLECTION] = {"jdk.GarbageCollection", "sumOfPauses", NULL, WIRE_EVENTS},
    [JFR_SETTING] = {"jdk.ActiveSetting", NULL, NULL, WIRE_EVENTS},
    [JFR_RECORDING] = {"jdk.ActiveRecording", NULL, NULL, WIRE_EVENTS},
    [JFR_JVM] = {"jdk.JVMInformation", NULL, NULL, WIRE_EVENTS},
    [JFR_PROPERTY] = {"jdk.InitialSystemProperty", NULL, NULL, WIRE_EVENTS},
};

static int either(const struct jfr_type *t, const char *a, const char *b) {
    int field = jfr_field_of(t, a);
    return field >= 0 ? field : jfr_field_of(t, b);
}

void jfr_events_bind(struct jfr_events *ev, struct jfr_chunk *k) {
    *ev = (struct jfr_events){0};
    for (unsigned row = 0; row < JFR_ROWS; row++) {
        if (!rows[row].type)
            continue;
        struct jfr_type *t = jfr_type_by_name(&k->types, rows[row].type);
        if (!t || t->form != JFR_STRUCT)
            continue;
        t->event = (uint8_t)row;
        ev->row[row] = (struct jfr_layout){
            .type = t,
            .start = jfr_field_of(t, "startTime"),
            .duration = jfr_field_of(t, "duration"),
            .thread = either(t, "sampledThread", "eventThread"),
            .stack = jfr_field_of(t, "stackTrace"),
            .state = jfr_field_of(t, "state"),
            .weight = jfr_field_of(t, rows[row].weight),
            .samples = jfr_field_of(t, "samples"),
            .class = jfr_field_of(t, rows[row].class),
            .address = jfr_field_of(t, "address"),
            .owner = jfr_field_of(t, "previousOwner"),
            .name = jfr_field_of(t, "event"),
            .unit = jfr_field_of(t, "unit"),
        };
    }
    ev->jdk = ev->row[JFR_NATIVE_METHOD].type != NULL;
}

/* ---- settings ---- */

/* Parses "20 ms", "10000000" or "512 k"; the result is in ns, bytes or counts. 0: anything else. */
static uint64_t quantity(const char *text) {
    static const struct {
        const char *unit;
        uint64_t is;
    } units[] = {{"", 1},           {"ns", 1},          {"us", 1000}, {"ms", 1000000},
                 {"s", 1000000000}, {"m", 60000000000}, {"bytes", 1}, {"calls", 1},
                 {"total", 1},      {"k", 1024},        {"kB", 1024}, {"MB", 1048576}};
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (end != text && !strcmp(end, units[i].unit))
            return n < UINT64_MAX / units[i].is ? n * units[i].is : 0;
    return 0;
}

static void copy(char *to, size_t size, struct wire_text t) {
    size_t n = t.bytes < size - 1 ? t.bytes : size - 1;
    if (n)
        memcpy(to, t.data, n);
    to[n] = '\0';
}

struct reading {
    struct jfr_events *ev;
    struct jfr_chunk *k;
    struct jfr_survey *s;
    const struct jfr_type *type;
    struct jfr_value v[JFR_FIELDS];
    enum jfr_row named; /* the row that settings of event samples belong to */
};

/* Reads a field by its name, as text; "" if there is none. */
static void field(const struct reading *r, const char *name, char *to, size_t size) {
    char scratch[WIRE_STRING_MAX];
    int i = jfr_field_of(r->type, name);
    to[0] = '\0';
    if (i >= 0)
        copy(to, size, jfr_text(r->k, &r->type->field[i], &r->v[i], scratch));
}

static bool is_one_of(const char *name, const char *const *of) {
    while (*of && strcmp(name, *of) != 0)
        of++;
    return *of != NULL;
}

/* Finds the row of a name. A new name gets a row, if one is free. */
static enum jfr_row find_named(struct jfr_survey *s, const char *name) {
    enum jfr_row row = jfr_survey_named(s, (struct wire_text){name, strlen(name)});
    if (row != JFR_ROWS || s->names == JFR_NAMES)
        return row;
    snprintf(s->named[s->names].name, sizeof s->named[0].name, "%s", name);
    return JFR_NAMED + s->names++;
}

static void survey_named(struct reading *r) {
    char name[sizeof r->s->named[0].name], unit[8];
    field(r, "event", name, sizeof name);
    field(r, "unit", unit, sizeof unit);
    enum jfr_row row = find_named(r->s, name);
    if (row == JFR_ROWS)
        return;
    r->s->count[row]++;
    r->s->named[row - JFR_NAMED].timed = strcmp(unit, "ns") == 0;
}

static void take_period(struct reading *r, unsigned row, uint64_t period) {
    r->ev->period[row] = period;
    if (r->s && !r->s->period[row])
        r->s->period[row] = period;
}

static void read_setting(struct reading *r) {
    static const char *const periods[] = {"period", "interval",  "wall",       "alloc",
                                          "lock",   "nativemem", "nativelock", NULL};
    char name[32], value[64];
    int id = jfr_field_of(r->type, "id");
    const struct jfr_type *of = id < 0 ? NULL : jfr_type_by_id(&r->k->types, r->v[id].number);
    unsigned row = of ? of->event : JFR_NO_EVENT;
    field(r, "name", name, sizeof name);
    field(r, "value", value, sizeof value);
    if (row == JFR_NAMED && r->s && !strcmp(name, "event"))
        r->named = find_named(r->s, value);
    if (row == JFR_NAMED)
        row = r->named;
    if (row < JFR_SAMPLES && is_one_of(name, periods) && quantity(value)) {
        /* async-profiler stores the wall clock period among the settings of execution samples. */
        bool wall = row == JFR_EXECUTION && !strcmp(name, "wall");
        take_period(r, wall ? JFR_WALL : row, quantity(value));
    } else if (r->s && (row == JFR_EXECUTION || row == JFR_RECORDING) && !strcmp(name, "event") &&
               !r->s->event[0]) {
        snprintf(r->s->event, sizeof r->s->event, "%s", value);
    }
}

/* ---- the VM ---- */

/* From "OpenJDK 64-Bit Server VM (17.0.15+6) for …" this takes the content of the first parentheses
 * that begin with a digit. */
static void take_version(struct jfr_survey *s, const char *text) {
    const char *from = text;
    while ((from = strchr(from, '(')) && (from[1] < '0' || from[1] > '9'))
        from++;
    from = from ? from + 1 : text;
    copy(s->version, sizeof s->version, (struct wire_text){from, strcspn(from, ")")});
}

static void take_name(struct jfr_survey *s, const char *arguments) {
    copy(s->name, sizeof s->name, (struct wire_text){arguments, strcspn(arguments, " ")});
}

static void read_jvm(struct reading *r) {
    char text[512];
    int pid = jfr_field_of(r->type, "pid");
    if (pid >= 0)
        r->s->pid = (uint32_t)r->v[pid].number & 0x7fffffff;
    field(r, "jvmVersion", text, sizeof text);
    if (text[0] && !r->s->version[0])
        take_version(r->s, text);
    field(r, "javaArguments", text, sizeof text);
    if (text[0])
        take_name(r->s, text);
}

static void read_property(struct reading *r) {
    char key[64], value[512];
    field(r, "key", key, sizeof key);
    field(r, "value", value, sizeof value);
    if (!strcmp(key, "java.vm.version") && value[0])
        take_version(r->s, value);
    else if (!strcmp(key, "sun.java.command") && !r->s->name[0])
        take_name(r->s, value);
}

/* ---- the survey of a chunk ---- */

static void survey_event(struct reading *r, const struct jfr_event *e) {
    struct jfr_cursor c = e->c;
    if (!jfr_value_read(&c, r->type, r->v))
        return;
    switch (r->type->event) {
    case JFR_NAMED:
        if (r->s)
            survey_named(r);
        break;
    case JFR_SETTING:
        read_setting(r);
        break;
    case JFR_JVM:
        if (r->s)
            read_jvm(r);
        break;
    case JFR_PROPERTY:
        if (r->s)
            read_property(r);
        break;
    default:
        break;
    }
}

static void survey_chunk(struct jfr_survey *s, const struct jfr_events *ev,
                         const struct jfr_chunk *k) {
    uint64_t end = k->start_ns + k->lasts_ns;
    if (!s->start_ns || k->start_ns < s->start_ns)
        s->start_ns = k->start_ns;
    if (end >= k->start_ns && end > s->end_ns)
        s->end_ns = end;
    s->jdk |= ev->jdk;
}

void jfr_events_survey(struct jfr_events *ev, struct jfr_chunk *k, struct jfr_survey *s) {
    struct reading r = {.ev = ev, .k = k, .s = s, .named = JFR_ROWS};
    const uint8_t *at = jfr_chunk_first(k);
    struct jfr_event e;
    if (s)
        survey_chunk(s, ev, k);
    while (jfr_chunk_next(k, &at, &e)) {
        r.type = jfr_type_by_id(&k->types, e.type);
        if (!r.type || r.type->event >= JFR_ROWS)
            continue;
        bool named = r.type->event == JFR_NAMED;
        if (s && !named)
            s->count[r.type->event]++;
        if (named || r.type->event >= JFR_TIMED)
            survey_event(&r, &e);
    }
    if (s && !s->jdk && s->period[JFR_WALL] && !ev->row[JFR_WALL].type &&
        strcmp(s->event, "wall") != 0)
        s->both = true;
}

enum wire_thread_state jfr_thread_state(struct wire_text t) {
    static const struct {
        const char *name;
        enum wire_thread_state state;
    } states[] = {{"STATE_RUNNABLE", WIRE_THREAD_RUNNING},
                  {"STATE_SLEEPING", WIRE_THREAD_SLEEPING},
                  {"STATE_IN_OBJECT_WAIT", WIRE_THREAD_WAITING},
                  {"STATE_IN_OBJECT_WAIT_TIMED", WIRE_THREAD_WAITING},
                  {"STATE_PARKED", WIRE_THREAD_PARKED},
                  {"STATE_PARKED_TIMED", WIRE_THREAD_PARKED},
                  {"STATE_BLOCKED_ON_MONITOR_ENTER", WIRE_THREAD_BLOCKED}};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (t.bytes == strlen(states[i].name) && !memcmp(t.data, states[i].name, t.bytes))
            return states[i].state;
    return WIRE_THREAD_UNKNOWN;
}

void jfr_events_survey_states(const struct jfr_events *ev, struct jfr_chunk *k,
                              struct jfr_survey *s) {
    const struct jfr_layout *at = &ev->row[JFR_EXECUTION];
    const uint8_t *next = jfr_chunk_first(k);
    struct jfr_value v[JFR_FIELDS];
    struct jfr_event e;
    char scratch[WIRE_STRING_MAX];
    while (at->type && at->state >= 0 && jfr_chunk_next(k, &next, &e)) {
        if (jfr_type_by_id(&k->types, e.type) != at->type || !jfr_value_read(&e.c, at->type, v) ||
            jfr_thread_state(jfr_text(k, &at->type->field[at->state], &v[at->state], scratch)) ==
                WIRE_THREAD_UNKNOWN)
            continue;
        s->count[JFR_EXECUTION]--;
        s->count[JFR_EXECUTION_WALL]++;
    }
}

/* ---- which event each row becomes ---- */

static bool is_cpu(const char *name) {
    static const char *const names[] = {"", "cpu", "ctimer", "itimer", "cpu-clock", NULL};
    return is_one_of(name, names);
}

/* If there are event samples that count something, they get the perf event's number, and execution
 * samples get the method event's. */
static enum wire_event execution_event(const struct jfr_survey *s) {
    enum wire_event event = WIRE_EVENT_PERF;
    for (unsigned i = 0; i < s->names; i++)
        if (!is_cpu(s->named[i].name) && !s->named[i].timed)
            event = WIRE_EVENT_METHOD;
    return is_cpu(s->event) ? WIRE_EVENT_CPU : !strcmp(s->event, "wall") ? WIRE_EVENT_WALL : event;
}

static unsigned taken_by_others(const struct jfr_survey *s) {
    unsigned taken = s->count[JFR_CPU_TIME] ? 1u << WIRE_EVENT_CPU : 0;
    if (s->count[JFR_METHOD] || s->count[JFR_METHOD_TRACE])
        taken |= 1u << WIRE_EVENT_METHOD;
    if (s->count[JFR_EXECUTION])
        taken |= 1u << execution_event(s);
    return taken;
}

/* Assigns event numbers in the order of the names. WIRE_EVENTS: no number was left. */
static enum wire_event named_event(const struct jfr_survey *s, unsigned which) {
    static const enum wire_event places[] = {WIRE_EVENT_PERF, WIRE_EVENT_METHOD, WIRE_EVENTS};
    unsigned taken = taken_by_others(s);
    enum wire_event event = WIRE_EVENTS;
    for (unsigned i = 0; i <= which; i++) {
        event = is_cpu(s->named[i].name) ? WIRE_EVENT_CPU
                : s->named[i].timed      ? WIRE_EVENT_METHOD
                                         : WIRE_EVENT_PERF;
        for (unsigned k = 0; event < WIRE_EVENTS && taken & 1u << event; k++)
            event = places[k];
        taken |= 1u << event;
    }
    return event;
}

/* Returns the name of the event samples that are read as this event; NULL: there are none. */
static const char *name_of(const struct jfr_survey *s, enum wire_event event) {
    for (unsigned i = 0; i < s->names; i++)
        if (s->count[JFR_NAMED + i] && named_event(s, i) == event)
            return s->named[i].name;
    return NULL;
}

enum jfr_row jfr_survey_named(const struct jfr_survey *s, struct wire_text name) {
    for (unsigned i = 0; i < s->names; i++) {
        size_t n = strlen(s->named[i].name);
        bool cut = n == sizeof s->named[i].name - 1;
        if ((name.bytes == n || (cut && name.bytes > n)) &&
            (n == 0 || !memcmp(s->named[i].name, name.data, n)))
            return JFR_NAMED + i;
    }
    return JFR_ROWS;
}

bool jfr_survey_wants(const struct jfr_survey *s, enum jfr_row row, enum wire_event *event) {
    bool tlab = s->count[JFR_ALLOC_IN] || s->count[JFR_ALLOC_OUTSIDE];
    if (row >= JFR_NAMED && row < JFR_SAMPLES) {
        *event = row - JFR_NAMED < s->names ? named_event(s, row - JFR_NAMED) : WIRE_EVENTS;
        return *event < WIRE_EVENTS;
    }
    *event = row == JFR_EXECUTION ? execution_event(s) : rows[row].event;
    switch (row) {
    case JFR_EXECUTION:
        return !s->count[JFR_CPU_TIME];
    case JFR_NATIVE_METHOD:
        return execution_event(s) != WIRE_EVENT_PERF && !name_of(s, WIRE_EVENT_PERF);
    case JFR_ALLOC_SAMPLE:
        return !tlab;
    case JFR_LIVE:
        return !tlab && !s->count[JFR_ALLOC_SAMPLE];
    case JFR_COLLECTION:
        return !s->count[JFR_PAUSE];
    default:
        return row < JFR_TIMED;
    }
}

const char *jfr_survey_name(const struct jfr_survey *s, enum wire_event event) {
    static const char *const names[WIRE_EVENTS] = {[WIRE_EVENT_CPU] = "cpu",
                                                   [WIRE_EVENT_WALL] = "wall",
                                                   [WIRE_EVENT_ALLOC] = "alloc",
                                                   [WIRE_EVENT_LOCK] = "lock",
                                                   [WIRE_EVENT_NATIVEMEM] = "nativemem",
                                                   [WIRE_EVENT_NATIVELOCK] = "nativelock",
                                                   [WIRE_EVENT_PERF] = "native",
                                                   [WIRE_EVENT_METHOD] = "method"};
    const char *name = name_of(s, event);
    bool other = event == WIRE_EVENT_PERF || event == WIRE_EVENT_METHOD;
    if (name)
        return name;
    return other && s->count[JFR_EXECUTION] && execution_event(s) == event ? s->event
                                                                           : names[event];
}

/* async-profiler's -e wall stores its period as the period of execution samples. */
static uint64_t wall_period(const struct jfr_survey *s, const uint64_t *period) {
    if (period[JFR_WALL])
        return period[JFR_WALL];
    bool only = !strcmp(s->event, "wall");
    return only && period[JFR_EXECUTION] ? period[JFR_EXECUTION] : 50000000;
}

uint64_t jfr_period(const struct jfr_survey *s, enum jfr_row row, const uint64_t *period,
                    bool jdk) {
    bool wall = row == JFR_WALL || row == JFR_EXECUTION_WALL ||
                (row == JFR_EXECUTION && execution_event(s) == WIRE_EVENT_WALL);
    if (wall)
        return wall_period(s, period);
    if (row == JFR_EXECUTION && !period[row])
        return jdk ? 20000000 : 10000000;
    return period[row] ? period[row] : 1;
}
