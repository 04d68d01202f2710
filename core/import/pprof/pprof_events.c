#include "core/import/pprof/pprof_events.h"

#include <stdio.h>
#include <string.h>

#define NONE (-1)

/* Makes "alloc-size", "Alloc_Size" and "alloc_size" equal. */
static char folded(char c) {
    return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins(struct wire_text t, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i < n && i < t.bytes; i++)
        if (folded(t.data[i]) != word[i])
            return false;
    return t.bytes >= n;
}

static bool is(struct wire_text t, const char *word) {
    return t.bytes == strlen(word) && begins(t, word);
}

bool pprof_type_is(const struct pprof_type *t, const char *word) {
    return is(t->type, word);
}

static bool ends_in(struct wire_text t, const char *ending) {
    size_t n = strlen(ending);
    return t.bytes >= n && begins((struct wire_text){t.data + t.bytes - n, n}, ending);
}

/* Reports whether the type is a number of samples, as opposed to their weight. */
static bool is_count(const struct pprof_type *t) {
    return is(t->type, "samples") || is(t->type, "sample") || is(t->type, "contentions") ||
           ends_in(t->type, "objects") || ends_in(t->type, "_count") ||
           ends_in(t->type, "_samples");
}

static bool is_alive(const struct pprof_type *t) {
    return begins(t->type, "inuse");
}

uint64_t pprof_unit_factor(struct wire_text unit) {
    static const struct {
        const char *unit;
        uint64_t factor;
    } known[] = {{"microseconds", 1000},    {"us", 1000},
                 {"milliseconds", 1000000}, {"ms", 1000000},
                 {"seconds", 1000000000},   {"s", 1000000000},
                 {"kilobytes", 1024},       {"megabytes", UINT64_C(1) << 20}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is(unit, known[i].unit))
            return known[i].factor;
    return 1;
}

/* ---- which event ---- */

static const struct {
    const char *type;
    enum wire_event event;
    bool named; /* and the event keeps the type's name */
} known[] = {
    {"cpu", WIRE_EVENT_CPU, false},
    {"process_cpu", WIRE_EVENT_CPU, false},
    {"itimer", WIRE_EVENT_CPU, true},
    {"ctimer", WIRE_EVENT_CPU, true},
    {"wall", WIRE_EVENT_WALL, false},
    {"wallclock", WIRE_EVENT_WALL, false},
    {"time", WIRE_EVENT_WALL, false},
    {"alloc", WIRE_EVENT_ALLOC, false},
    {"alloc_space", WIRE_EVENT_ALLOC, false},
    {"alloc_bytes", WIRE_EVENT_ALLOC, false},
    {"alloc_in_new_tlab_bytes", WIRE_EVENT_ALLOC, false},
    {"alloc_outside_tlab_bytes", WIRE_EVENT_ALLOC, false},
    {"alloc_size", WIRE_EVENT_ALLOC, false},
    {"inuse_space", WIRE_EVENT_ALLOC, false},
    {"space", WIRE_EVENT_ALLOC, false},
    {"live", WIRE_EVENT_ALLOC, true},
    {"delay", WIRE_EVENT_LOCK, false},
    {"lock", WIRE_EVENT_LOCK, false},
    {"mutex", WIRE_EVENT_LOCK, false},
    {"block", WIRE_EVENT_LOCK, false},
    {"lock_duration", WIRE_EVENT_LOCK, false},
    {"lock_time", WIRE_EVENT_LOCK, false},
    {"nativemem", WIRE_EVENT_NATIVEMEM, false},
    {"malloc", WIRE_EVENT_NATIVEMEM, false},
    {"leak", WIRE_EVENT_NATIVEMEM, true},
    {"nativelock", WIRE_EVENT_NATIVELOCK, false},
};

static struct pprof_event event_of(const struct pprof_type *t) {
    bool method = t->type.bytes && memchr(t->type.data, '.', t->type.bytes);
    struct pprof_event x = {.event = method ? WIRE_EVENT_METHOD : WIRE_EVENT_PERF,
                            .weight = NONE,
                            .count = NONE,
                            .live = NONE,
                            .live_count = NONE,
                            .factor = pprof_unit_factor(t->unit)};
    int length = t->type.bytes < sizeof x.name ? (int)t->type.bytes : (int)sizeof x.name - 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is(t->type, known[i].type)) {
            x.event = known[i].event;
            length = known[i].named ? length : 0;
            break;
        }
    snprintf(x.name, sizeof x.name, "%.*s", length, t->type.data ? t->type.data : "");
    return x;
}

static bool is_taken(const struct pprof_events *e, enum wire_event event) {
    for (int i = 0; i < e->count; i++)
        if (e->event[i].event == event)
            return true;
    return false;
}

/* Adds an event with a number that no other event has. */
static void add(struct pprof_events *e, const struct pprof_type *t, struct pprof_event x) {
    const enum wire_event number[] = {x.event, WIRE_EVENT_PERF, WIRE_EVENT_METHOD};
    int length = t->type.bytes < sizeof x.name ? (int)t->type.bytes : (int)sizeof x.name - 1;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        if (is_taken(e, number[i]))
            continue;
        if (number[i] != x.event && !x.name[0])
            snprintf(x.name, sizeof x.name, "%.*s", length, t->type.data);
        x.event = number[i];
        e->event[e->count++] = x;
        return;
    }
    size_t used = strlen(e->left_out);
    snprintf(e->left_out + used, sizeof e->left_out - used, "%s%.*s", used ? ", " : "", length,
             t->type.data ? t->type.data : "");
}

static bool is_empty(const struct pprof_survey *s, const struct pprof_event *x) {
    return !(s->some >> x->weight & 1) && !(x->count != NONE && s->some >> x->count & 1);
}

static int countable(struct pprof_events *e, const struct pprof_survey *s, int count) {
    if (count == NONE || !(s->beyond >> count & 1))
        return count;
    e->uncounted = true;
    return NONE;
}

/* Adds live objects as a part of what was allocated, if there is such an event. */
static bool add_alive(struct pprof_events *e, int weight, int count) {
    for (int i = 0; i < e->count; i++)
        if (e->event[i].event == WIRE_EVENT_ALLOC && e->event[i].live == NONE) {
            e->event[i].live = weight;
            e->event[i].live_count = count;
            return true;
        }
    return false;
}

void pprof_events_find(const struct pprof_type *type, int types, const struct pprof_survey *survey,
                       struct pprof_events *out) {
    bool used[PPROF_TYPES_MAX] = {false};
    *out = (struct pprof_events){0};
    if (types > PPROF_TYPES_MAX)
        types = PPROF_TYPES_MAX;
    for (int i = 0; i < types; i++) {
        if (is_count(&type[i]))
            continue;
        struct pprof_event x = event_of(&type[i]);
        x.weight = i;
        if (i > 0 && !used[i - 1] && is_count(&type[i - 1]))
            x.count = i - 1;
        else if (!is(type[i].unit, "count") && i + 1 < types && is_count(&type[i + 1]))
            x.count = i + 1;
        used[i] = true;
        if (x.count != NONE)
            used[x.count] = true;
        if (x.count == NONE && is(type[i].unit, "count"))
            x.count = i;
        if (is_empty(survey, &x))
            continue;
        x.count = countable(out, survey, x.count);
        if (is_alive(&type[i]) && !survey->apart && add_alive(out, x.weight, x.count))
            continue;
        bool objects = is(type[i].type, "live");
        if (objects && is(type[i].unit, "count") && x.count != NONE)
            x.weight = NONE; /* the number of bytes is not known */
        if (objects || (is_alive(&type[i]) && !survey->apart)) {
            x.live = x.weight;
            x.live_count = x.count;
        }
        add(out, &type[i], x);
    }
    /* Counts without a weight are events of their own. */
    for (int i = 0; i < types; i++) {
        struct pprof_event x = event_of(&type[i]);
        x.weight = i;
        if (used[i] || is_empty(survey, &x))
            continue;
        x.count = countable(out, survey, i);
        add(out, &type[i], x);
    }
    if (out->count == 0 && types > 0) { /* all values of all types are 0 */
        struct pprof_event x = event_of(&type[types - 1]);
        x.weight = types - 1;
        add(out, &type[types - 1], x);
    }
}
