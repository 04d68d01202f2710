#include "core/export/jfr/jfr_kind.h"

#include <string.h>

static void cpu_fields(struct text *event, const struct jfr_sample *s, const struct jfr_leaf *leaf,
                       uint64_t weight) {
    (void)s, (void)leaf, (void)weight;
    jfr_number(event, JFR_STATE_DEFAULT);
}

static void wall_fields(struct text *event, const struct jfr_sample *s, const struct jfr_leaf *leaf,
                        uint64_t weight) {
    (void)leaf, (void)weight;
    jfr_number(event, s->state);
    jfr_number(event, s->count < INT32_MAX ? s->count : INT32_MAX);
}

/* The sample's weight is written where other writers put the size of a new TLAB, because tools add
 * up that field. */
static void alloc_fields(struct text *event, const struct jfr_sample *s,
                         const struct jfr_leaf *leaf, uint64_t weight) {
    (void)s;
    jfr_number(event, leaf->class);
    jfr_number(event, weight); /* the object's own size is not known here */
    if (!leaf->other)
        jfr_number(event, weight);
}

static void live_fields(struct text *event, const struct jfr_sample *s, const struct jfr_leaf *leaf,
                        uint64_t weight) {
    jfr_number(event, leaf->class);
    jfr_number(event, weight);
    jfr_number(event, s->time_ns); /* time of the allocation */
}

static void trace_fields(struct text *event, const struct jfr_sample *s,
                         const struct jfr_leaf *leaf, uint64_t weight) {
    (void)s, (void)weight;
    jfr_number(event, leaf->method);
}

static void lock_fields(struct text *event, const struct jfr_sample *s, const struct jfr_leaf *leaf,
                        uint64_t weight) {
    (void)weight;
    jfr_number(event, leaf->class);
    jfr_number(event, 0); /* owner, or timeout */
    if (leaf->other)
        jfr_number(event, 0); /* until */
    jfr_number(event, s->address);
}

static void malloc_fields(struct text *event, const struct jfr_sample *s,
                          const struct jfr_leaf *leaf, uint64_t weight) {
    (void)leaf;
    jfr_number(event, s->address);
    jfr_number(event, weight);
}

static void address_fields(struct text *event, const struct jfr_sample *s,
                           const struct jfr_leaf *leaf, uint64_t weight) {
    (void)leaf, (void)weight;
    jfr_number(event, s->address);
}

static void event_fields(struct text *event, const struct jfr_sample *s,
                         const struct jfr_leaf *leaf, uint64_t weight) {
    (void)leaf;
    jfr_number(event, JFR_STATE_DEFAULT);
    jfr_string(event, s->event);
    jfr_number(event, weight);
    jfr_string(event, s->unit);
}

static const struct jfr_kind kinds[] = {
    {"wall", "profiler.WallClockSample", NULL, "wall", false, true, JFR_CATEGORY_WALL, wall_fields},
    {"alloc", "jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB", "alloc", false,
     false, JFR_CATEGORY_ALLOC, alloc_fields},
    {"live", "profiler.LiveObject", NULL, "alloc", false, false, JFR_CATEGORY_ALLOC, live_fields},
    {"lock", "jdk.JavaMonitorEnter", "jdk.ThreadPark", "lock", true, false, JFR_CATEGORY_LOCK,
     lock_fields},
    {"nativemem", "profiler.Malloc", NULL, "nativemem", false, false, JFR_CATEGORY_NATIVEMEM,
     malloc_fields},
    {"leak", "profiler.Malloc", NULL, "nativemem", false, false, JFR_CATEGORY_NATIVEMEM,
     malloc_fields},
    {"nativelock", "profiler.NativeLock", NULL, "nativelock", true, false, JFR_CATEGORY_NATIVELOCK,
     address_fields},
    {"trace", "jdk.MethodTrace", NULL, "trace", true, false, JFR_CATEGORY_TRACE, trace_fields},
    {NULL, "jdk.ExecutionSample", NULL, "interval", false, false, JFR_CATEGORY_CPU, cpu_fields},
};

const struct jfr_kind *jfr_kind_of(const char *event) {
    const struct jfr_kind *k = kinds;
    while (k->event && (!event || strcmp(k->event, event) != 0))
        k++;
    return k;
}

const struct jfr_kind *jfr_kind_among(const char *event, bool *taken) {
    static const struct jfr_kind another = {
        NULL,  "profiler.EventSample", NULL,        "interval", false,
        false, JFR_CATEGORY_CPU,       event_fields};
    const struct jfr_kind *k = jfr_kind_of(event);
    if (k->event)
        return k;
    k = *taken ? &another : k;
    *taken = true;
    return k;
}

const struct jfr_kind *jfr_kind_for(const struct export_quality *q, bool *taken) {
    return jfr_kind_among(q->trace ? "trace" : q->event, taken);
}

const char *jfr_kind_interval(const struct jfr_kind *k) {
    return k->interval;
}

const char *jfr_kind_type(const struct jfr_kind *k) {
    return k->type;
}

bool jfr_kind_is_sum(const struct jfr_kind *k) {
    return k->sum;
}

uint32_t jfr_kind_limit(const struct jfr_kind *k, const struct jfr_limits *limits) {
    return limits->of[k->category];
}
