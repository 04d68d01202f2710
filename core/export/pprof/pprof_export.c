/*
 * Writes profile.proto, gzipped. Protocol buffers that follow each other count as one message, so
 * the profile is packed and compressed in pieces and never held in memory as a whole.
 *
 *      sample ─▶ locations (method, line) ─▶ function (printed name) ─▶ strings
 *        └─ labels: thread, tid, event
 *
 * A function is a printed name, as in the text report: what is one row there is one function here.
 */
#include "core/export/caption.h"
#include "core/export/formats.h"
#include "core/export/frame_names.h"
#include "core/export/places.h"
#include "core/profile/snapshot/history_read.h"

#include <core/export/pprof/profile.pb-c.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LEVEL 1 /* the file is 20% larger than with level 6, but is made in a third of the time */

struct pprof {
    ProtobufCBuffer sink; /* must be first: append() gets a pointer to it */
    struct text *out;
    const struct profile *p;
    const struct snapshot *s;
    const struct export_quality *q;
    const struct export_options *o;
    struct history_reading *r;
    struct frame_names *names;
    z_stream z;
    uint8_t plain[16384]; /* waits to be compressed */
    uInt plain_len;
    int error;

    struct places places;
    int64_t strings;   /* written so far */
    int64_t *function; /* by printed name: 1 + number of its string; 0: not written */
    uint32_t function_cap;
    int64_t *thread;     /* number of the string with each thread's name */
    const char **module; /* names of mapping 2 and the following ones */
    uint32_t modules, module_cap;
    int64_t key_thread, key_tid, key_virtual, key_event, event;
};

static void compress_plain(struct pprof *w, int flush) {
    uint8_t buf[16384];
    w->z.next_in = w->plain;
    w->z.avail_in = w->plain_len;
    do {
        w->z.next_out = buf;
        w->z.avail_out = sizeof buf;
        (void)deflate(&w->z, flush);
        text_add_n(w->out, (const char *)buf, sizeof buf - w->z.avail_out);
    } while (w->z.avail_out == 0);
    w->plain_len = 0;
}

static void append(ProtobufCBuffer *sink, size_t size, const uint8_t *data) {
    struct pprof *w = (struct pprof *)(void *)sink;
    while (size) {
        size_t room = sizeof w->plain - w->plain_len, n = size < room ? size : room;
        memcpy(w->plain + w->plain_len, data, n);
        w->plain_len += (uInt)n;
        data += n;
        size -= n;
        if (w->plain_len == sizeof w->plain)
            compress_plain(w, Z_NO_FLUSH);
    }
}

/* Writes one piece of the profile. */
static void emit(struct pprof *w, const Pprof__Profile *piece) {
    (void)pprof__profile__pack_to_buffer(piece, &w->sink);
}

static int64_t add_string(struct pprof *w, const char *s) {
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    char *string = (char *)(uintptr_t)s;
    piece.n_string_table = 1;
    piece.string_table = &string;
    emit(w, &piece);
    return w->strings++;
}

static uint64_t mapping_of(struct pprof *w, const char *module) {
    if (!module[0])
        return 1;
    /* There are few modules, and their strings belong to the method table: the pointers are nearly
     * always equal. */
    for (uint32_t i = w->modules; i-- > 0;)
        if (w->module[i] == module || !strcmp(w->module[i], module))
            return i + 2;
    if (w->modules == w->module_cap) {
        uint32_t cap = w->module_cap ? w->module_cap * 2 : 64;
        const char **modules = realloc(w->module, cap * sizeof *modules);
        if (!modules) {
            w->error = -ENOMEM;
            return 1;
        }
        w->module = modules;
        w->module_cap = cap;
    }
    w->module[w->modules++] = module;
    return w->modules + 1;
}

static void add_mappings(struct pprof *w) {
    for (uint32_t i = 0; i <= w->modules; i++) {
        Pprof__Mapping mapping = PPROF__MAPPING__INIT, *one = &mapping;
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        const char *name = i ? w->module[i - 1] : w->q->jvm ? w->q->jvm : "java";
        mapping.id = i + 1;
        /* The ranges must not overlap; otherwise readers treat them as one mapping. */
        mapping.memory_start = (uint64_t)(i + 1) << 32;
        mapping.memory_limit = (uint64_t)(i + 2) << 32;
        mapping.filename = add_string(w, name);
        mapping.has_functions = mapping.has_filenames = true;
        mapping.has_line_numbers = mapping.has_inline_frames = true;
        piece.n_mapping = 1;
        piece.mapping = &one;
        emit(w, &piece);
    }
}

static int64_t function_of(struct pprof *w, const struct place *at, const struct method *m) {
    uint64_t tier[TIERS] = {0};
    tier[at->tier] = 1;
    const struct frame_printed *name = frame_names_get(w->names, at->method, tier);
    if (!name) {
        w->error = -ENOMEM;
        return 0;
    }
    if (name->id >= w->function_cap) {
        uint32_t cap = name->id * 2 + 1024;
        int64_t *function = realloc(w->function, cap * sizeof *function);
        if (!function) {
            w->error = -ENOMEM;
            return 0;
        }
        memset(function + w->function_cap, 0, (cap - w->function_cap) * sizeof *function);
        w->function = function;
        w->function_cap = cap;
    }
    if (!w->function[name->id]) {
        Pprof__Function function = PPROF__FUNCTION__INIT, *one = &function;
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        char source[512];
        places_source(m, source, sizeof source);
        function.id = (uint64_t)name->id + 1;
        function.name = function.system_name = add_string(w, name->text);
        function.filename = source[0] ? add_string(w, source) : 0;
        piece.n_function = 1;
        piece.function = &one;
        emit(w, &piece);
        w->function[name->id] = 1;
    }
    return (int64_t)name->id + 1;
}

static void add_location(struct pprof *w, const struct place *at, uint64_t id) {
    Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
    Pprof__Location location = PPROF__LOCATION__INIT, *one = &location;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    const struct method *m = method_table_get(profile_methods_const(w->p), at->method);
    line.function_id = (uint64_t)function_of(w, at, m);
    line.line = at->line;
    location.id = id;
    location.mapping_id = mapping_of(w, m->module);
    location.address = (location.mapping_id << 32) + id; /* an invented address that makes locations
                                                            distinct */
    location.n_line = 1;
    location.line = &lines;
    piece.n_location = 1;
    piece.location = &one;
    emit(w, &piece);
}

/* Returns the location's id; 0 if there is no memory. */
static uint64_t location_of(struct pprof *w, const struct profile_frame *f) {
    struct place at = {f->method, f->line, w->o->annotate ? f->tier : TIER_NONE};
    bool is_new;
    uint32_t id = places_number(&w->places, at, &is_new);
    if (id == INDEX_NONE) {
        w->error = -ENOMEM;
        return 0;
    }
    if (is_new)
        add_location(w, &at, (uint64_t)id + 1);
    return (uint64_t)id + 1;
}

static void add_sample(struct pprof *w, const struct history_item *it, uint64_t *location,
                       size_t locations) {
    const struct history_thread *t = &w->r->thread[it->thread];
    int64_t value[2] = {(int64_t)it->count, (int64_t)it->weight};
    Pprof__Label label[4], *labels[4];
    Pprof__Sample sample = PPROF__SAMPLE__INIT, *one = &sample;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    size_t n = 0;
    for (; n < 4; n++) {
        pprof__label__init(&label[n]);
        labels[n] = &label[n];
    }
    label[0].key = w->key_thread;
    label[0].str = w->thread[it->thread];
    label[1].key = w->key_event;
    label[1].str = w->event;
    label[2].key = w->key_tid;
    label[2].num = t->tid;
    label[3].key = w->key_virtual;
    label[3].num = (int64_t)t->java_id;
    sample.n_location_id = locations;
    sample.location_id = location;
    sample.n_value = w->q->uncounted ? 1 : 2;
    sample.value = w->q->uncounted ? &value[1] : value;
    sample.n_label = w->o->unlabelled ? 0 : t->is_virtual ? 4 : 3;
    sample.label = labels;
    piece.n_sample = 1;
    piece.sample = &one;
    emit(w, &piece);
}

static void add_samples(struct pprof *w, const struct query *question) {
    struct profile_frame *frame = malloc(PROFILE_STACK_MAX * sizeof *frame);
    uint64_t *location = malloc(PROFILE_STACK_MAX * sizeof *location);
    uint32_t node = UINT32_MAX, frames = 0;
    if (!frame || !location)
        w->error = -ENOMEM;
    for (size_t i = 0; i < w->r->items && !w->error; i++) {
        const struct history_item *it = &w->r->item[i];
        if (it->node != node || !frames) {
            node = it->node;
            frames = history_stack(w->p, question, node, frame);
            for (uint32_t k = 0; k < frames; k++)
                location[k] = location_of(w, &frame[k]);
        }
        add_sample(w, it, location, frames);
    }
    free(frame);
    free(location);
}

static const char *unit_of(const struct export_quality *q) {
    return !q->unit                    ? "count"
           : !strcmp(q->unit, "ns")    ? "nanoseconds"
           : !strcmp(q->unit, "bytes") ? "bytes"
                                       : "count";
}

static void add_comment(struct pprof *w, const char *text) {
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    int64_t comment = add_string(w, text);
    piece.n_comment = 1;
    piece.comment = &comment;
    emit(w, &piece);
}

/* Describes what was measured, and how good the profile is. */
static void add_head(struct pprof *w) {
    const struct export_quality *q = w->q;
    const char *event = q->event ? q->event : "cpu";
    Pprof__ValueType type[2], *types[2] = {&type[0], &type[1]};
    Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    pprof__value_type__init(&type[0]);
    pprof__value_type__init(&type[1]);
    (void)add_string(w, "");
    w->key_thread = add_string(w, "thread");
    w->key_tid = add_string(w, "tid");
    w->key_virtual = add_string(w, "virtual_thread");
    w->key_event = add_string(w, "event");
    w->event = add_string(w, event);
    type[0].type = add_string(w, "samples");
    type[0].unit = add_string(w, "count");
    type[1].type = period.type = w->event;
    type[1].unit = period.unit = add_string(w, unit_of(q));
    piece.n_sample_type = q->uncounted ? 1 : 2;
    piece.sample_type = q->uncounted ? &types[1] : types;
    piece.default_sample_type = w->event;
    piece.period_type = &period;
    piece.period = q->interval ? (int64_t)q->interval : 1; /* 1: every single event */
    piece.duration_nanos = (int64_t)q->elapsed_ns;
    if (!q->undated)
        piece.time_nanos = (int64_t)(w->r->first * 1000000000) + formats_time_of_day(q, w->r->last);
    emit(w, &piece);

    struct text note = {0};
    caption_title(&note, q, w->o);
    text_add(&note, "; ");
    caption_subtitle(&note, w->s, q, w->o);
    text_add(&note, "; jtop-prof " JTOP_VERSION);
    add_comment(w, note.failed ? "" : note.data);
    text_free(&note);
}

static int begin(struct pprof *w, const struct query *question) {
    w->r = history_read(w->p, question);
    w->names = frame_names_new(profile_methods_const(w->p), formats_name_style(w->o) | NAME_DOTTED,
                               w->o->annotate, NULL);
    w->thread = w->r ? calloc((size_t)w->r->threads + 1, sizeof *w->thread) : NULL;
    if (!w->r || !w->names || !w->thread ||
        deflateInit2(&w->z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return -ENOMEM;
    places_merge_seconds(w->r);
    return 0;
}

int pprof_export(struct text *out, const struct profile *p, const struct snapshot *s,
                 const struct export_quality *q, const struct export_options *o) {
    static const struct query everything = {0};
    const struct query *question = o->question ? o->question : &everything;
    struct pprof w = {.sink = {append}, .out = out, .p = p, .s = s, .q = q, .o = o};
    int err = begin(&w, question);
    if (!err) {
        add_head(&w);
        for (uint32_t i = 0; i < w.r->threads; i++)
            w.thread[i] = add_string(&w, w.r->thread[i].name);
        add_samples(&w, question);
        add_mappings(&w);
        compress_plain(&w, Z_FINISH);
        err = w.error;
    }
    (void)deflateEnd(&w.z);
    history_reading_free(w.r);
    frame_names_free(w.names);
    places_free(&w.places);
    free(w.function);
    free(w.thread);
    free(w.module);
    return err || out->failed ? -ENOMEM : 0;
}
