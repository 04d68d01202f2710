/*
 * Reads profile.proto (core/export/pprof/profile.proto), plain or gzipped, as written by Go's
 * runtime, by this program and by other Java profilers. Samples are read one by one; only names are
 * held in memory.
 *
 * These labels are understood: thread (also thread_name, "thread name"), tid (thread_id, "thread
 * id"), virtual_thread, timestamp_ns (end_timestamp_ns). Without timestamps, all samples have the
 * same time, and the elapsed time is the duration that the profile states.
 */
#include "core/import/importer.h"
#include "core/import/pprof/pprof_events.h"
#include "core/import/pprof/pprof_names.h"
#include "core/import/text/frame_text.h"

#include <core/export/pprof/profile.pb-c.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_NS UINT64_C(1000000000) /* sample time at which the profile begins */
#define DURATION_MAX (UINT64_C(366) * 86400 * BEGIN_NS)
#define COUNT_MAX (1u << 20) /* maximum count of one record (core/decode/decoder.h) */
/* Maximum number of extra records, in all, for counts that do not fit into one */
#define MORE_RECORDS_MAX (1u << 16)
#define SAMPLE_BYTES_MAX ((size_t)4 << 20)

struct pprof {
    struct emit *m;
    struct pprof_names *names;
    struct pprof_events events;
    struct pprof_survey survey;
    uint64_t negative; /* number of negative values */
    struct import_result *result;
    int64_t began;     /* time of day in ns; 0: not known */
    uint64_t duration; /* ns */
    uint64_t live_id;
    uint32_t more; /* records used up of MORE_RECORDS_MAX */
    struct pprof_type type[PPROF_TYPES_MAX], period_type;
    int types;
    uint64_t period;
    uint64_t frame[WIRE_FRAMES_MAX];
};

/* ---- detection of the format ---- */

static const uint8_t wire_of[] = {
    [1] = PPROF_BYTES,   [2] = PPROF_BYTES,   [3] = PPROF_BYTES,  [4] = PPROF_BYTES,
    [5] = PPROF_BYTES,   [6] = PPROF_BYTES,   [7] = PPROF_VARINT, [8] = PPROF_VARINT,
    [9] = PPROF_VARINT,  [10] = PPROF_VARINT, [11] = PPROF_BYTES, [12] = PPROF_VARINT,
    [13] = PPROF_VARINT, [14] = PPROF_VARINT, [15] = PPROF_VARINT};

/* Comments are numbers, either one per field or packed. */
static bool fits(const struct pprof_field *f) {
    return f->number < sizeof wire_of &&
           (f->wire == wire_of[f->number] || (f->number == 13 && f->wire == PPROF_BYTES));
}

/* Reports whether the field contains two numbers and nothing else. */
static bool is_value_type(const struct pprof_field *f) {
    struct pprof_field one;
    size_t at = 0;
    int r;
    while ((r = pprof_field_next(f->data, f->bytes, &at, &one)) > 0)
        if (one.number > 2 || one.wire != PPROF_VARINT)
            return false;
    return r == 0 && f->bytes <= 22;
}

/* Every complete field must be a field of a profile, and one must be a sample type. */
static bool is_profile(const uint8_t *data, size_t bytes, bool whole) {
    struct pprof_field f;
    size_t at = 0;
    unsigned fields = 0, types = 0;
    int r;
    while ((r = pprof_field_next(data, bytes, &at, &f)) > 0) {
        if (!fits(&f) || (f.number == 1 && !is_value_type(&f)))
            return false;
        fields++;
        types += f.number == 1;
    }
    return types > 0 && fields > 1 && (r == 0 || !whole);
}

static bool knows(const uint8_t *head, size_t bytes, bool whole) {
    uint8_t *plain = malloc(65536);
    bool gzip = bytes > 2 && head[0] == 0x1f && head[1] == 0x8b;
    bool known = false;
    if (plain) {
        size_t got = gunzip_peek(head, bytes, plain, 65536);
        known = is_profile(plain, got, whole && !gzip && got == bytes);
    }
    free(plain);
    return known;
}

/* ---- the head of the profile ---- */

static struct pprof_type type_of(const struct pprof *p, const struct pprof_field *f) {
    struct pprof_field one;
    struct pprof_type t = {0};
    size_t at = 0;
    while (pprof_field_next(f->data, f->bytes, &at, &one) > 0) {
        struct wire_text s = pprof_string(p->names, (int64_t)one.value);
        if (one.number == 1)
            t.type = s;
        else if (one.number == 2)
            t.unit = s;
    }
    return t;
}

/* Returns how many of the bytes are valid fields. */
static size_t read_head(struct pprof *p, const struct gunzip *b) {
    struct pprof_field f;
    size_t at = 0;
    while (pprof_field_next(b->data, b->bytes, &at, &f) > 0) {
        if (f.number == 1 && f.wire == PPROF_BYTES && p->types < PPROF_TYPES_MAX)
            p->type[p->types++] = type_of(p, &f);
        else if (f.number == 11 && f.wire == PPROF_BYTES)
            p->period_type = type_of(p, &f);
        else if (f.number == 9)
            p->began = (int64_t)f.value > 0 ? (int64_t)f.value : 0;
        else if (f.number == 10)
            p->duration = f.value < DURATION_MAX ? f.value : 0;
        else if (f.number == 12)
            p->period = f.value <= INT64_MAX ? f.value : 0;
    }
    return at;
}

/* Writes the program as the JVM. Our own files name it "Main (pid 7)". */
static void tell_jvm(struct pprof *p) {
    struct wire_text name = pprof_program(p->names);
    const char *pid = name.bytes ? memmem(name.data, name.bytes, " (pid ", 6) : NULL;
    const char *slash = name.bytes ? memrchr(name.data, '/', name.bytes) : NULL;
    uint32_t number = 0;
    if (pid) {
        for (const char *c = pid + 6; c < name.data + name.bytes && *c >= '0' && *c <= '9'; c++)
            number = number < INT32_MAX / 10 ? number * 10 + (uint32_t)(*c - '0') : number;
        name.bytes = (size_t)(pid - name.data);
    } else if (slash) {
        name.bytes = (size_t)(name.data + name.bytes - slash - 1);
        name.data = slash + 1;
    }
    emit_jvm(p->m, number, name, (struct wire_text){0},
             (uint64_t)p->began > BEGIN_NS ? (uint64_t)p->began - BEGIN_NS : 0);
}

static bool same_text(struct wire_text a, struct wire_text b) {
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.data, b.data, a.bytes) == 0);
}

/* 0: not known, or the result does not fit into 64 bits. */
static uint64_t period_of(const struct pprof *p) {
    uint64_t period;
    return __builtin_mul_overflow(p->period, pprof_unit_factor(p->period_type.unit), &period)
               ? 0
               : period;
}

static void tell_events(struct pprof *p, uint64_t time_ns) {
    for (int i = 0; i < p->events.count; i++) {
        const struct pprof_event *x = &p->events.event[i];
        bool periodic = x->weight >= 0 && same_text(p->type[x->weight].type, p->period_type.type);
        emit_mark(p->m, time_ns, x->event, x->name, periodic ? period_of(p) : 0, x->count >= 0);
    }
}

/* ---- samples ---- */

struct labels {
    struct wire_text thread;
    uint64_t tid, virtual_id;
    int64_t time; /* time of day in ns; 0: not known */
};

static bool is_key(struct wire_text key, const char *const *words) {
    for (; *words; words++)
        if (same_text(key, (struct wire_text){*words, strlen(*words)}))
            return true;
    return false;
}

static uint64_t number_of(const struct pprof *p, const Pprof__Label *l) {
    struct wire_text s = pprof_string(p->names, l->str);
    uint64_t n = 0;
    if (s.bytes == 0)
        return l->num > 0 ? (uint64_t)l->num : 0;
    for (size_t i = 0; i < s.bytes; i++) {
        if (s.data[i] < '0' || s.data[i] > '9' || i > 17)
            return 0;
        n = n * 10 + (uint64_t)(s.data[i] - '0');
    }
    return n;
}

static void read_label(const struct pprof *p, const Pprof__Label *l, struct labels *out) {
    static const char *const thread[] = {"thread", "thread_name", "thread name", "threadName",
                                         NULL};
    static const char *const tid[] = {"tid", "thread_id", "thread id", "TID", NULL};
    static const char *const virtual[] = {"virtual_thread", NULL};
    static const char *const time[] = {"timestamp_ns", "end_timestamp_ns", NULL};
    struct wire_text key = pprof_string(p->names, l->key);
    if (is_key(key, thread) && l->str)
        out->thread = pprof_string(p->names, l->str);
    else if (is_key(key, tid))
        out->tid = number_of(p, l);
    else if (is_key(key, virtual))
        out->virtual_id = number_of(p, l);
    else if (is_key(key, time))
        out->time = l->num;
}

/* A thread may have only a name. For a virtual thread it is the virtual thread's own name, and the
 * tid is the carrier's. */
static void set_thread(struct pprof *p, const struct labels *l, struct wire_sample *w) {
    w->tid = l->tid <= UINT32_MAX ? (uint32_t)l->tid : 0;
    w->virtual_id = l->virtual_id;
    if (w->virtual_id)
        emit_virtual_thread(p->m, w->virtual_id, w->tid, l->thread);
    else
        w->tid = emit_thread(p->m, w->tid, 0, l->thread);
}

static uint64_t time_of(const struct pprof *p, const struct labels *l) {
    if (l->time <= p->began || !p->began || (uint64_t)(l->time - p->began) > DURATION_MAX)
        return BEGIN_NS;
    return BEGIN_NS + (uint64_t)(l->time - p->began);
}

static uint64_t value_of(const Pprof__Sample *s, int at) {
    return at >= 0 && (size_t)at < s->n_value && s->value[at] > 0 ? (uint64_t)s->value[at] : 0;
}

/* One record has the weight and as much of the count as fits; further records without weight have
 * the rest of the count. `alive`: each record is one live object, which is tracked. `rest`: the
 * samples were already counted, so a count of 0 stays 0. */
static void emit_counted(struct pprof *p, struct wire_sample *w, uint64_t count, uint64_t weight,
                         bool alive, bool rest, uint32_t frames) {
    count += count == 0 && !rest;
    w->weight = weight;
    do {
        w->count = count < COUNT_MAX ? (uint32_t)count : COUNT_MAX;
        w->count = count ? w->count : WIRE_COUNT_NONE;
        w->live_id = alive ? ++p->live_id : 0;
        emit_sample(p->m, w, p->frame, frames);
        count -= count ? w->count : 0;
        w->weight = 0;
    } while (count > 0 && p->more++ < MORE_RECORDS_MAX && !emit_failure(p->m));
}

static uint64_t times(uint64_t a, uint64_t b) {
    uint64_t r;
    return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}

static uint64_t rest(uint64_t whole, uint64_t part) {
    return part < whole ? whole - part : 0;
}

static void read_event(struct pprof *p, const struct pprof_event *x, const Pprof__Sample *s,
                       struct wire_sample *w, uint32_t frames) {
    uint64_t weight = times(value_of(s, x->weight), x->factor), count = value_of(s, x->count);
    uint64_t live = times(value_of(s, x->live), x->factor);
    uint64_t live_count = value_of(s, x->live_count);
    bool alive = live || live_count;
    w->event = (uint8_t)x->event;
    if (alive)
        emit_counted(p, w, live_count, live, true, false, frames);
    if (rest(weight, live) || rest(count, live_count))
        emit_counted(p, w, rest(count, live_count), rest(weight, live), false, alive, frames);
}

static uint32_t read_frames(struct pprof *p, const Pprof__Sample *s, bool class_leaf) {
    uint32_t frames = 0;
    size_t i = 0;
    for (; i < s->n_location_id && frames < WIRE_FRAMES_MAX; i++)
        frames += pprof_location_frames(p->names, p->m, s->location_id[i], i == 0, class_leaf,
                                        p->frame + frames, WIRE_FRAMES_MAX - frames);
    if (i < s->n_location_id)
        p->frame[frames - 1] = wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_TRUNCATED);
    return frames;
}

static void read_sample(struct pprof *p, const Pprof__Sample *s) {
    struct labels labels = {0};
    struct wire_sample w = {.cpu = WIRE_CPU_NONE};
    int as_class = -1; /* how the frames were read last */
    uint32_t frames = 0;
    for (size_t i = 0; i < s->n_label; i++)
        read_label(p, s->label[i], &labels);
    set_thread(p, &labels, &w);
    w.time_ns = time_of(p, &labels);
    for (int i = 0; i < p->events.count; i++) {
        enum wire_event event = p->events.event[i].event;
        int class_leaf = event == WIRE_EVENT_ALLOC || event == WIRE_EVENT_LOCK;
        if (as_class != class_leaf)
            frames = read_frames(p, s, class_leaf);
        as_class = class_leaf;
        read_event(p, &p->events.event[i], s, &w, frames);
    }
}

static int read_samples(struct pprof *p, const struct gunzip *b) {
    struct pprof_field f;
    size_t at = 0;
    while (!emit_failure(p->m) && pprof_field_next(b->data, b->bytes, &at, &f) > 0) {
        if (f.number != 2 || f.wire != PPROF_BYTES || f.bytes > SAMPLE_BYTES_MAX)
            continue;
        Pprof__Sample *s = pprof__sample__unpack(NULL, f.bytes, f.data);
        if (s)
            read_sample(p, s);
        pprof__sample__free_unpacked(s, NULL);
    }
    return emit_failure(p->m);
}

/* ---- the survey of all samples ---- */

struct totals {
    uint64_t records[PPROF_TYPES_MAX]; /* extra records that the counts need */
    int weight[2], live[2]; /* indexes of the types for allocated and alive bytes and objects;
                               -1: none */
};

static void survey_values(struct pprof *p, struct totals *t, const int64_t *value, int values) {
    for (int i = 0; i < values; i++) {
        if (value[i] < 0)
            p->negative++;
        if (value[i])
            p->survey.some |= 1u << i;
        if (value[i] > 0)
            t->records[i] += (uint64_t)(value[i] - 1) / COUNT_MAX;
        if (t->records[i] > MORE_RECORDS_MAX / 2)
            p->survey.beyond |= 1u << i;
    }
    for (int k = 0; k < 2; k++) {
        int all = t->weight[k], live = t->live[k];
        if (all >= 0 && live >= 0 && all < values && live < values && value[live] > value[all])
            p->survey.apart = true;
    }
}

/* Values are numbers, either one per field or packed. */
static void survey_sample(struct pprof *p, struct totals *t, const struct pprof_field *sample) {
    int64_t value[PPROF_TYPES_MAX] = {0};
    int values = 0;
    struct pprof_field f;
    size_t at = 0;
    while (pprof_field_next(sample->data, sample->bytes, &at, &f) > 0) {
        if (f.number != 2)
            continue;
        uint64_t n = f.value;
        size_t in = 0;
        if (f.wire == PPROF_VARINT && values < PPROF_TYPES_MAX)
            value[values++] = (int64_t)n;
        while (f.wire == PPROF_BYTES && values < PPROF_TYPES_MAX &&
               pprof_varint(f.data, f.bytes, &in, &n))
            value[values++] = (int64_t)n;
    }
    survey_values(p, t, value, values);
}

static int type_called(const struct pprof *p, const char *name) {
    for (int i = 0; i < p->types; i++)
        if (pprof_type_is(&p->type[i], name))
            return i;
    return -1;
}

static void survey_samples(struct pprof *p, const struct gunzip *b) {
    struct totals t = {.weight = {type_called(p, "alloc_space"), type_called(p, "alloc_objects")},
                       .live = {type_called(p, "inuse_space"), type_called(p, "inuse_objects")}};
    struct pprof_field f;
    size_t at = 0;
    while (pprof_field_next(b->data, b->bytes, &at, &f) > 0)
        if (f.number == 2 && f.wire == PPROF_BYTES && f.bytes <= SAMPLE_BYTES_MAX)
            survey_sample(p, &t, &f);
}

/* ---- the file ---- */

static void note_damage(struct pprof *p, const struct gunzip *b, size_t read) {
    struct import_result *r = p->result;
    if (b->cut || read < b->bytes)
        snprintf(r->damage, sizeof r->damage, "it is cut or damaged after %zu bytes%s", read,
                 b->owned ? " of its uncompressed data" : "");
    else if (p->more > MORE_RECORDS_MAX)
        snprintf(r->damage, sizeof r->damage, "its counts are too large and were reduced");
    if (p->events.left_out[0])
        snprintf(r->note, sizeof r->note, "the file has more events than can be read; left out: %s",
                 p->events.left_out);
    else if (p->negative)
        snprintf(r->note, sizeof r->note,
                 "the file has negative values, as a difference of two profiles has; they are left "
                 "out (%" PRIu64 ")",
                 p->negative);
    else if (p->events.uncounted)
        snprintf(r->note, sizeof r->note,
                 "some numbers are too large to be sample counts: those events are read without "
                 "counts, as weights only");
}

static int read_profile(struct pprof *p, const struct gunzip *b, struct err *e) {
    int r = pprof_names_read(b, &p->names, e);
    if (r < 0)
        return r;
    size_t read = read_head(p, b);
    survey_samples(p, b);
    pprof_events_find(p->type, p->types, &p->survey, &p->events);
    if (p->events.count == 0 || (b->cut && p->type[0].type.bytes == 0))
        return err_set(
            e, EINVAL,
            b->cut ? "the pprof file is cut before the names of its events: nothing can be read"
                   : "the pprof file does not name its events");
    tell_jvm(p);
    tell_events(p, BEGIN_NS);
    r = read_samples(p, b);
    tell_events(p, BEGIN_NS + p->duration);
    note_damage(p, b, read);
    return r < 0 ? r : emit_failure(p->m);
}

static int read(const uint8_t *data, size_t bytes, import_record *each, void *arg,
                struct import_result *result, struct err *e) {
    struct gunzip b;
    int r = gunzip_open(data, bytes, &b, e);
    if (r < 0)
        return r;
    struct pprof *p = calloc(1, sizeof *p);
    struct emit *m = emit_open(each, arg);
    r = -ENOMEM;
    if (p && m) {
        p->m = m;
        p->result = result;
        r = read_profile(p, &b, e);
    }
    if (r == -ENOMEM)
        err_set(e, ENOMEM, "no memory to read the pprof file");
    if (p)
        pprof_names_free(p->names);
    free(p);
    emit_close(m);
    gunzip_close(&b);
    return r;
}

const struct import_reader import_pprof = {"pprof", true, knows, read};
