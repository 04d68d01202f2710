#include "attach/find/perf_values.h"

#include "attach/find/hsperf.h"
#include "core/base/utf8.h"

#include <stdbool.h>
#include <string.h>

struct sums {
    int64_t frequency; /* ticks per second of the times below */
    int64_t gc_ticks, safepoint_ticks;
    int64_t loaded, loaded_shared, unloaded, unloaded_shared;
    int64_t max_largest; /* of a single generation */
    bool regions;        /* the generations share the heap: the maximum of each is the whole */
};

struct reading {
    struct perf_values *v;
    struct sums s;
};

static void add(int64_t *sum, int64_t n) {
    if (n > 0 && __builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}

/* Names of entries that hold a single number. */
static const struct {
    const char *name;
    size_t offset; /* in struct sums if in_sums, else in struct perf_values */
    bool in_sums;
} numbers[] = {
    {"sun.os.hrt.frequency", offsetof(struct sums, frequency), true},
    {"sun.rt.safepointTime", offsetof(struct sums, safepoint_ticks), true},
    {"java.cls.loadedClasses", offsetof(struct sums, loaded), true},
    {"java.cls.sharedLoadedClasses", offsetof(struct sums, loaded_shared), true},
    {"java.cls.unloadedClasses", offsetof(struct sums, unloaded), true},
    {"java.cls.sharedUnloadedClasses", offsetof(struct sums, unloaded_shared), true},
    {"sun.rt.safepoints", offsetof(struct perf_values, safepoints), false},
    {"java.threads.live", offsetof(struct perf_values, threads), false},
    {"sun.rt.createVmBeginTime", offsetof(struct perf_values, created_ms), false},
};

static const struct {
    const char *name;
    size_t offset, size;
} texts[] = {
#define TEXT(NAME, FIELD)                                                                          \
    { NAME, offsetof(struct perf_values, FIELD), sizeof(((struct perf_values *)0)->FIELD) }
    TEXT("sun.rt.javaCommand", command),
    TEXT("java.property.java.vm.version", vm_version),
    TEXT("java.property.java.vm.name", vm_name),
    TEXT("sun.rt.jvmCapabilities", capabilities),
#undef TEXT
};

/* If `name` is PREFIX, a digit, a dot and a rest: returns the rest and sets *index. Else NULL. */
static const char *indexed(const char *name, const char *prefix, unsigned *index) {
    size_t n = strlen(prefix);
    if (strncmp(name, prefix, n) != 0 || name[n] < '0' || name[n] > '9' || name[n + 1] != '.')
        return NULL;
    *index = (unsigned)(name[n] - '0');
    return name + n + 2;
}

/* The heap is generations 0 and 1. Capacities are taken from generations, not from spaces: a
 * space's is useless (Shenandoah's is the reserved size). */
static bool heap_number(struct reading *r, const char *name, int64_t n) {
    unsigned generation, space;
    const char *rest = indexed(name, "sun.gc.generation.", &generation);
    if (!rest)
        return false;
    const char *of_space = indexed(rest, "space.", &space);
    if (generation > 1)
        return true;
    if (of_space && strcmp(of_space, "used") == 0)
        add(&r->v->heap_used, n);
    else if (strcmp(rest, "capacity") == 0)
        add(&r->v->heap_capacity, n);
    else if (strcmp(rest, "maxCapacity") == 0) {
        add(&r->v->heap_max, n);
        if (n > r->s.max_largest)
            r->s.max_largest = n;
    }
    return true;
}

static void number(struct reading *r, const char *name, int64_t n) {
    unsigned collector;
    if (heap_number(r, name, n))
        return;
    const char *rest = indexed(name, "sun.gc.collector.", &collector);
    if (rest) {
        if (strcmp(rest, "invocations") == 0)
            add(&r->v->gc_count, n);
        else if (strcmp(rest, "time") == 0)
            add(&r->s.gc_ticks, n);
        return;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0) {
            char *base = numbers[i].in_sums ? (char *)&r->s : (char *)r->v;
            int64_t value = n > 0 ? n : 0;
            memcpy(base + numbers[i].offset, &value, sizeof value);
            return;
        }
}

static void text(struct reading *r, const struct hsperf_entry *e) {
    unsigned collector;
    const char *rest = indexed(e->name, "sun.gc.collector.", &collector);
    if (rest && strcmp(rest, "name") == 0) {
        if ((e->text_len > 2 && memcmp(e->text, "G1 ", 3) == 0) ||
            (e->text_len > 0 && e->text[0] == 'Z'))
            r->s.regions = true;
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(e->name, texts[i].name) == 0) {
            char *to = (char *)r->v + texts[i].offset;
            size_t n = e->text_len < texts[i].size ? e->text_len : texts[i].size - 1;
            memcpy(to, e->text, n);
            to[n] = '\0';
            utf8_clean(to);
            return;
        }
}

static int64_t milliseconds(int64_t ticks, int64_t frequency) {
    if (frequency <= 0)
        return 0;
    double ms = (double)ticks / (double)frequency * 1000;
    return ms < 9e18 ? (int64_t)ms : INT64_MAX;
}

int perf_values_read(struct perf_values *v, const void *data, size_t size) {
    struct hsperf h;
    struct hsperf_entry e;
    struct reading r = {.v = v};
    *v = (struct perf_values){0};
    int rc = hsperf_open(&h, data, size);
    if (rc < 0)
        return rc;
    while (hsperf_next(&h, &e)) {
        if (e.is_text)
            text(&r, &e);
        else
            number(&r, e.name, e.number);
    }
    v->gc_ms = milliseconds(r.s.gc_ticks, r.s.frequency);
    v->safepoint_ms = milliseconds(r.s.safepoint_ticks, r.s.frequency);
    add(&v->classes, r.s.loaded);
    add(&v->classes, r.s.loaded_shared);
    int64_t gone = 0;
    add(&gone, r.s.unloaded);
    add(&gone, r.s.unloaded_shared);
    v->classes = v->classes > gone ? v->classes - gone : 0;
    if (r.s.regions)
        v->heap_max = r.s.max_largest;
    if (v->heap_max > 0 && v->heap_capacity > v->heap_max)
        v->heap_capacity = v->heap_max; /* G1 adds 8 bytes per space so that it never reports 0 */
    return 0;
}
