/*
 * A flight recording of one chunk, of one event of the profile.
 *
 * An event is written for every sample (but of wall clock, whose events stand for several). The
 * profile knows a sample's second and no more; within it samples are spread, so that nothing looks
 * like a burst. A class at the leaf (of an object, of a lock) is a field of the event.
 */
#include "core/export/caption.h"
#include "core/export/formats.h"
#include "core/export/frame_class.h"
#include "core/export/jfr_write.h"
#include "core/profile/history_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS UINT64_C(1000000000)    /* ticks are ns */
#define EVENTS_MAX 16777216u       /* beyond, the file says how many samples it has not */
#define STACK_BYTES_MAX (1u << 29) /* beyond, of a stack only the leaf is written */
#define HEADER 68

struct jfr;

/* How an event of the profile is written. `weight` is of this one sample. */
struct kind {
    const char *event; /* the profile's; NULL: any other */
    const char *type;
    bool lasts; /* the weight is a duration, and the samples come at its end */
    void (*rest)(struct jfr *w, uint64_t weight);
};

struct jfr {
    struct text *out;
    const struct profile *p;
    const struct query *question;
    const struct kind *kind;
    struct history_reading *r;
    struct text event; /* being made */
    uint32_t type;
    uint64_t written, left_out;

    /* of the item whose events are being written */
    uint32_t class;
    bool parked;
    uint64_t samples;

    /* constants */
    struct jfr_names symbols, packages, classes;
    uint8_t *method_used; /* by id */
    struct text stacks;
    uint32_t stack_count;
    struct index stack_index;
    struct stack {
        uint32_t node, class;
        bool parked;
    } * stack;
    uint32_t stack_cap;
    struct profile_frame frame[PROFILE_STACK_MAX];
};

/* ---- constants ---- */

static uint32_t class_of(struct jfr *w, const char *name) {
    return jfr_name(&w->classes, name, strlen(name));
}

/* What `jfr print` takes apart must have the form of a descriptor. */
static const char *descriptor_of(const struct method *m) {
    const char *s = m->signature;
    return m->kind == METHOD_JAVA && s[0] == '(' && strchr(s, ')') ? s : "()L;";
}

static void method_constant(struct jfr *w, struct text *out, uint32_t id) {
    const struct method *m = method_table_get(profile_methods_const(w->p), id);
    char name[1024];
    bool java = m->kind == METHOD_JAVA;
    frame_name(m, 0, name, sizeof name);
    const char *shown = java ? m->name : name;
    jfr_number(out, (uint64_t)id + 1);
    jfr_number(out, class_of(w, java ? m->class_name : ""));
    jfr_number(out, jfr_name(&w->symbols, shown, strlen(shown)));
    jfr_number(out, jfr_name(&w->symbols, descriptor_of(m), strlen(descriptor_of(m))));
    jfr_number(out, 0); /* modifiers */
    jfr_number(out, 0); /* hidden */
}

/* In the order of enum frame_class; number 1 is the first. */
static const char *const frame_types[FRAME_CLASSES] = {
    [CLASS_INTERPRETED] = "Interpreted", [CLASS_JAVA] = "JIT compiled", [CLASS_C1] = "C1 compiled",
    [CLASS_INLINED] = "Inlined",         [CLASS_NATIVE] = "Native",     [CLASS_CPP] = "C++",
    [CLASS_KERNEL] = "Kernel",           [CLASS_THREAD] = "Thread",     [CLASS_ERROR] = "Error",
};

static void add_frames(struct jfr *w, uint32_t from, uint32_t frames) {
    const struct method_table *methods = profile_methods_const(w->p);
    for (uint32_t i = from; i < frames; i++) {
        const struct profile_frame *f = &w->frame[i];
        const struct method *m = method_table_get(methods, f->method);
        w->method_used[f->method] = 1;
        jfr_number(&w->stacks, (uint64_t)f->method + 1);
        jfr_number(&w->stacks, f->line);
        jfr_number(&w->stacks, 0); /* bytecode index */
        jfr_number(&w->stacks, frame_class_of(m->kind, (enum frame_tier)f->tier) + 1u);
    }
}

static bool is_park(const struct method *m) {
    size_t n = strlen(m->class_name);
    return m->kind == METHOD_JAVA && !strcmp(m->name, "park") && n >= 6 &&
           !strcmp(m->class_name + n - 6, "Unsafe");
}

static struct stack write_stack(struct jfr *w, uint32_t node) {
    const struct method_table *methods = profile_methods_const(w->p);
    struct stack k = {.node = node};
    uint32_t frames = history_stack(w->p, w->question, node, w->frame), from = 0;
    const struct method *leaf = method_table_get(methods, w->frame[0].method);
    if (leaf->kind == METHOD_CLASS) {
        from = 1;
        k.class = class_of(w, leaf->name[0] ? leaf->name : leaf->class_name);
        for (uint32_t i = 1; i < frames && i < 4; i++)
            k.parked |= is_park(method_table_get(methods, w->frame[i].method));
    }
    bool cut = w->stacks.len > STACK_BYTES_MAX && frames > from + 1;
    if (cut)
        frames = from + 1;
    jfr_number(&w->stacks, w->stack_count + 1);
    jfr_number(&w->stacks, cut);
    jfr_number(&w->stacks, frames - from);
    add_frames(w, from, frames);
    return k;
}

/* Its number; 0 without memory. */
static uint32_t stack_of(struct jfr *w, uint32_t node) {
    uint32_t hash = (uint32_t)hash_pair(index_seed(&w->stack_index), node, 0), pos = hash, id;
    while (w->stack && (id = index_next(&w->stack_index, hash, &pos)) != INDEX_NONE)
        if (w->stack[id].node == node)
            return id + 1;
    if (w->stack_count == w->stack_cap) {
        uint32_t cap = w->stack_cap ? w->stack_cap * 2 : 1024;
        struct stack *stack = realloc(w->stack, cap * sizeof *stack);
        if (!stack)
            return 0;
        w->stack = stack;
        w->stack_cap = cap;
    }
    if (index_reserve(&w->stack_index) != 0)
        return 0;
    index_put(&w->stack_index, hash, w->stack_count);
    struct stack k = write_stack(w, node);
    w->stack[w->stack_count++] = k;
    return w->stack_count;
}

/* ---- events ---- */

static void rest_state(struct jfr *w, uint64_t weight) {
    (void)weight;
    jfr_number(&w->event, 1); /* state */
}

static void rest_samples(struct jfr *w, uint64_t weight) {
    (void)weight;
    jfr_number(&w->event, w->samples < INT32_MAX ? w->samples : INT32_MAX);
}

static void rest_object(struct jfr *w, uint64_t weight) {
    jfr_number(&w->event, w->class);
    jfr_number(&w->event, weight);
}

static void rest_lock(struct jfr *w, uint64_t weight) {
    (void)weight;
    jfr_number(&w->event, w->class);
    jfr_number(&w->event, 0); /* owner, or timeout */
    if (w->parked)
        jfr_number(&w->event, 0); /* until */
    jfr_number(&w->event, 0);     /* address */
}

static void rest_malloc(struct jfr *w, uint64_t weight) {
    jfr_number(&w->event, 0); /* address */
    jfr_number(&w->event, weight);
}

static void rest_address(struct jfr *w, uint64_t weight) {
    (void)weight;
    jfr_number(&w->event, 0);
}

static const struct kind kinds[] = {
    {"wall", "profiler.WallClockSample", false, rest_samples},
    {"alloc", "jdk.ObjectAllocationSample", false, rest_object},
    {"live", "profiler.LiveObject", false, rest_object},
    {"lock", "jdk.JavaMonitorEnter", true, rest_lock},
    {"nativemem", "profiler.Malloc", false, rest_malloc},
    {"leak", "profiler.Malloc", false, rest_malloc},
    {"nativelock", "profiler.NativeLock", true, rest_address},
    {NULL, "jdk.ExecutionSample", false, rest_state},
};

static const struct kind *kind_of(const char *event) {
    const struct kind *k = kinds;
    while (k->event && (!event || strcmp(k->event, event) != 0))
        k++;
    return k;
}

static void add_event(struct jfr *w, const struct history_item *it, uint32_t stack, uint64_t at,
                      uint64_t weight) {
    uint64_t lasts = w->kind->lasts ? weight : 0, first = w->r->first * NS;
    if (at - first < lasts)
        at = first + lasts;
    text_clear(&w->event);
    jfr_number(&w->event,
               w->parked && w->kind->rest == rest_lock ? jfr_type("jdk.ThreadPark") : w->type);
    jfr_number(&w->event, at - lasts);
    if (w->kind->lasts)
        jfr_number(&w->event, lasts);
    jfr_number(&w->event, (uint64_t)it->thread + 1);
    jfr_number(&w->event, stack);
    w->kind->rest(w, weight);
    jfr_event(w->out, &w->event);
}

/* `seed` spreads different items over their second. */
static void add_item(struct jfr *w, const struct history_item *it, uint64_t seed) {
    uint32_t stack = stack_of(w, it->node);
    if (!stack) {
        w->out->failed = true;
        return;
    }
    w->class = w->stack[stack - 1].class;
    w->parked = w->stack[stack - 1].parked;
    w->samples = it->count;
    uint64_t events = w->kind->rest == rest_samples || !it->count ? 1 : it->count;
    uint64_t room = events < EVENTS_MAX - w->written ? events : EVENTS_MAX - w->written;
    uint64_t offset = (seed * UINT64_C(0x9e3779b97f4a7c15) >> 32) * NS >> 32;
    for (uint64_t i = 0; i < room; i++) {
        uint64_t within = (offset + i * (NS / events)) % NS;
        uint64_t weight = it->weight / events + (i < it->weight % events);
        add_event(w, it, stack, it->second * NS + within, weight);
    }
    w->written += room;
    w->left_out += events - room;
}

static void add_setting(struct jfr *w, const char *name, const char *value) {
    text_clear(&w->event);
    jfr_number(&w->event, jfr_type("jdk.ActiveSetting"));
    jfr_number(&w->event, w->r->first * NS);
    jfr_number(&w->event, 0); /* duration */
    jfr_number(&w->event, 0); /* thread */
    jfr_number(&w->event, w->type);
    jfr_string(&w->event, name);
    jfr_string(&w->event, value);
    jfr_event(w->out, &w->event);
}

static void add_number_setting(struct jfr *w, const char *name, uint64_t n, const char *unit) {
    char value[64];
    snprintf(value, sizeof value, "%" PRIu64 "%s%s", n, unit[0] ? " " : "", unit);
    add_setting(w, name, value);
}

static void add_notes(struct jfr *w, const struct snapshot *s, const struct export_quality *q,
                      const struct export_options *o, int64_t day) {
    struct text title = {0}, subtitle = {0};
    caption_title(&title, q, o);
    caption_subtitle(&subtitle, s, q, o);
    text_clear(&w->event);
    jfr_number(&w->event, jfr_type("jdk.ActiveRecording"));
    jfr_number(&w->event, w->r->first * NS);
    jfr_number(&w->event, q->elapsed_ns);
    jfr_number(&w->event, 0); /* thread */
    jfr_number(&w->event, 1); /* id */
    jfr_string(&w->event, "jtop-prof " JTOP_VERSION);
    jfr_string(&w->event, NULL); /* destination */
    jfr_number(&w->event, 0);    /* age */
    jfr_number(&w->event, 0);    /* size */
    jfr_number(&w->event, (w->r->first * NS + (uint64_t)day) / 1000000);
    jfr_number(&w->event, q->elapsed_ns / 1000000);
    jfr_event(w->out, &w->event);
    add_setting(w, "profile", title.data);
    add_setting(w, "quality", subtitle.data);
    add_setting(w, "event", q->event);
    add_number_setting(w, "interval", q->interval, q->unit ? q->unit : "");
    add_number_setting(w, "dropped", q->dropped, "");
    if (w->left_out)
        add_number_setting(w, "left out of this file", w->left_out, "samples");
    w->out->failed |= title.failed | subtitle.failed;
    text_free(&title);
    text_free(&subtitle);
}

/* ---- the chunk ---- */

static void pool(struct text *out, const char *type, uint32_t count) {
    jfr_number(out, jfr_type(type));
    jfr_number(out, count);
}

static void add_threads(struct jfr *w, struct text *out) {
    pool(out, "java.lang.Thread", w->r->threads);
    for (uint32_t i = 0; i < w->r->threads; i++) {
        const struct history_thread *t = &w->r->thread[i];
        jfr_number(out, (uint64_t)i + 1);
        jfr_string(out, t->name);
        jfr_number(out, t->tid);
        jfr_string(out, t->java_id ? t->name : NULL);
        jfr_number(out, t->java_id);
        jfr_number(out, 0); /* group */
        jfr_number(out, t->is_virtual);
    }
}

static uint32_t add_methods(struct jfr *w, struct text *out) {
    uint32_t known = method_table_count(profile_methods_const(w->p)), used = 0;
    for (uint32_t i = 0; i <= known; i++)
        used += w->method_used[i];
    if (used)
        pool(out, "jdk.types.Method", used);
    for (uint32_t i = 0; i <= known; i++)
        if (w->method_used[i])
            method_constant(w, out, i);
    return used != 0;
}

/* The class's own name is its symbol, what is before the last '/' its package. */
static void add_classes(struct jfr *w, struct text *out) {
    pool(out, "java.lang.Class", w->classes.count);
    for (uint32_t id = 1; id <= w->classes.count; id++) {
        const char *name = jfr_name_text(&w->classes, id);
        const char *slash = strrchr(name, '/');
        uint32_t package =
            slash && name[0] != '[' ? jfr_name(&w->packages, name, (size_t)(slash - name)) : 0;
        jfr_number(out, id);
        jfr_number(out, 0); /* loader */
        jfr_number(out, jfr_name(&w->symbols, name, strlen(name)));
        jfr_number(out, package);
        jfr_number(out, 0); /* modifiers */
    }
}

static void add_strings(struct jfr *w, struct text *out) {
    pool(out, "jdk.types.FrameType", FRAME_CLASSES);
    for (unsigned i = 0; i < FRAME_CLASSES; i++) {
        jfr_number(out, i + 1);
        jfr_string(out, frame_types[i]);
    }
    pool(out, "jdk.types.ThreadState", 1);
    jfr_number(out, 1);
    jfr_string(out, "STATE_RUNNABLE");
    if (w->packages.count) {
        pool(out, "jdk.types.Package", w->packages.count);
        for (uint32_t id = 1; id <= w->packages.count; id++) {
            const char *name = jfr_name_text(&w->packages, id);
            jfr_number(out, id);
            jfr_number(out, jfr_name(&w->symbols, name, strlen(name)));
        }
    }
    if (w->symbols.count)
        pool(out, "jdk.types.Symbol", w->symbols.count);
    for (uint32_t id = 1; id <= w->symbols.count; id++) {
        jfr_number(out, id);
        jfr_string(out, jfr_name_text(&w->symbols, id));
    }
}

/* A pool may not be empty. What refers to a pool comes before it here, which fills it. */
static void add_checkpoint(struct jfr *w) {
    struct text pools = {0};
    unsigned count = 2; /* those that are always there */
    if (w->r->threads) {
        add_threads(w, &pools);
        count++;
    }
    count += add_methods(w, &pools);
    if (w->classes.count) {
        add_classes(w, &pools);
        count++;
    }
    add_strings(w, &pools);
    count += (w->packages.count ? 1u : 0u) + (w->symbols.count ? 1u : 0u);

    size_t at = jfr_begin(w->out);
    jfr_number(w->out, JFR_EVENT_CHECKPOINT);
    jfr_number(w->out, w->r->first * NS);
    jfr_number(w->out, 0); /* duration */
    jfr_number(w->out, 0); /* no other checkpoint before it */
    jfr_number(w->out, 0); /* its kind */
    jfr_number(w->out, count + (w->stack_count != 0));
    text_add_n(w->out, pools.data, pools.len);
    if (w->stack_count) {
        pool(w->out, "jdk.types.StackTrace", w->stack_count);
        text_add_n(w->out, w->stacks.data, w->stacks.len);
    }
    jfr_end(w->out, at);
    w->out->failed |= pools.failed | w->stacks.failed | w->symbols.bytes.failed |
                      w->packages.bytes.failed | w->classes.bytes.failed;
    text_free(&pools);
}

/* source: JfrChunkHeader, JDK 11–25. */
static void fill_header(struct jfr *w, size_t start, size_t metadata, size_t checkpoint,
                        int64_t day) {
    char *h = w->out->data + start;
    uint64_t ticks = w->r->first * NS;
    memcpy(h, "FLR", 4);
    jfr_big_endian(h + 4, 2, 2);
    jfr_big_endian(h + 6, 0, 2);
    jfr_big_endian(h + 8, w->out->len - start, 8);
    jfr_big_endian(h + 16, checkpoint - start, 8);
    jfr_big_endian(h + 24, metadata - start, 8);
    jfr_big_endian(h + 32, ticks + (uint64_t)day, 8);
    jfr_big_endian(h + 40, (w->r->last - w->r->first + 1) * NS, 8);
    jfr_big_endian(h + 48, ticks, 8);
    jfr_big_endian(h + 56, NS, 8); /* ticks a second */
    jfr_big_endian(h + 64, 3, 4);  /* numbers are compressed; the last chunk */
}

static void write_chunk(struct jfr *w, const struct snapshot *s, const struct export_quality *q,
                        const struct export_options *o) {
    static const char header[HEADER] = {0};
    int64_t day = formats_time_of_day(w->r->last);
    size_t start = w->out->len;
    text_add_n(w->out, header, sizeof header);
    for (size_t i = 0; i < w->r->items && !w->out->failed; i++)
        add_item(w, &w->r->item[i], i + 1);
    add_notes(w, s, q, o, day);
    size_t metadata = w->out->len;
    jfr_metadata(w->out, w->r->first * NS);
    size_t checkpoint = w->out->len;
    add_checkpoint(w);
    if (!w->out->failed)
        fill_header(w, start, metadata, checkpoint, day);
}

int jfr_export(struct text *out, const struct profile *p, const struct snapshot *s,
               const struct export_quality *q, const struct export_options *o) {
    static const struct query everything = {0};
    struct jfr *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->out = out;
    w->p = p;
    w->question = o->question ? o->question : &everything;
    w->kind = kind_of(q->event);
    w->type = jfr_type(w->kind->type);
    w->r = history_read(p, w->question);
    w->method_used = calloc((size_t)method_table_count(profile_methods_const(p)) + 1, 1);
    int err = w->r && w->method_used ? 0 : -ENOMEM;
    if (!err)
        write_chunk(w, s, q, o);
    history_reading_free(w->r);
    free(w->method_used);
    free(w->stack);
    text_free(&w->stacks);
    text_free(&w->event);
    jfr_names_free(&w->symbols);
    jfr_names_free(&w->packages);
    jfr_names_free(&w->classes);
    index_free(&w->stack_index);
    free(w);
    return err || out->failed ? -ENOMEM : 0;
}
