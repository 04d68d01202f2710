/*
 * Writes OpenTelemetry's profiles signal, uncompressed, as it would be sent to a collector.
 *
 *      resource: the JVM ─▶ scope: this program ─▶ profiles, two per event: weights and samples
 *      profile ─▶ sample (stack, thread) ─▶ dictionary, shared by all profiles
 */
#include "core/export/formats.h"
#include "core/export/otlp/otlp_dictionary.h"
#include "core/profile/snapshot/history_read.h"

#include <core/export/otlp/otlp.pb-c.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct otlp {
    struct otlp_dictionary d;
    struct text profiles; /* the profiles of the scope, packed */
    const struct export_part *part;
    struct history_reading *r;
    int32_t (*thread)[2]; /* attribute numbers of each thread: its name and its number */
};

static const char *unit_of(const struct export_quality *q) {
    return !q->unit                    ? "count"
           : !strcmp(q->unit, "ns")    ? "nanoseconds"
           : !strcmp(q->unit, "bytes") ? "bytes"
                                       : "count";
}

static int number_threads(struct otlp *w) {
    w->thread = calloc((size_t)w->r->threads + 1, sizeof *w->thread);
    if (!w->thread)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->r->threads; i++) {
        const struct history_thread *t = &w->r->thread[i];
        w->thread[i][0] = otlp_attribute_string(&w->d, "thread.name", t->name);
        w->thread[i][1] = otlp_attribute_number(
            &w->d, t->is_virtual ? "jtop_prof.virtual_thread.id" : "thread.id",
            t->is_virtual ? (int64_t)t->java_id : t->tid);
    }
    return w->d.error;
}

static void add_samples(struct otlp *w, const struct query *question, bool weights,
                        struct text *profile) {
    struct otlp_sink sink = otlp_sink_of(profile);
    for (size_t i = 0; i < w->r->items && !w->d.error; i++) {
        const struct history_item *it = &w->r->item[i];
        Otlp__Sample sample = OTLP__SAMPLE__INIT, *one = &sample;
        Otlp__Profile piece = OTLP__PROFILE__INIT;
        int64_t value = (int64_t)(weights ? it->weight : it->count);
        sample.stack_index = otlp_stack(&w->d, question, it->node);
        sample.n_attribute_indices = 2;
        sample.attribute_indices = w->thread[it->thread];
        sample.n_values = 1;
        sample.values = &value;
        piece.n_samples = 1;
        piece.samples = &one;
        (void)otlp__profile__pack_to_buffer(&piece, &sink.buffer);
    }
}

/* Adds the attributes of the profile itself to `quality`; returns their number. */
static size_t number_quality(struct otlp *w, int32_t quality[2]) {
    quality[0] = otlp_attribute_number(&w->d, "jtop_prof.dropped_samples",
                                       (int64_t)w->part->quality->dropped);
    uint64_t failed = 0;
    for (int i = 0; i < w->part->quality->failed_count; i++)
        failed += w->part->quality->failed[i].samples;
    quality[1] = otlp_attribute_number(&w->d, "jtop_prof.failed_walks", (int64_t)failed);
    return 2;
}

static void add_profile(struct otlp *w, const struct query *question, bool weights) {
    const struct export_quality *q = w->part->quality;
    const char *event = q->event ? q->event : "cpu";
    struct text profile = {0};
    struct otlp_sink sink = otlp_sink_of(&profile), all = otlp_sink_of(&w->profiles);
    Otlp__ValueType type = OTLP__VALUE_TYPE__INIT, period = OTLP__VALUE_TYPE__INIT;
    Otlp__Profile head = OTLP__PROFILE__INIT;
    int32_t quality[2];
    type.type_strindex = otlp_string(&w->d, weights ? event : "samples");
    type.unit_strindex = otlp_string(&w->d, weights ? unit_of(q) : "count");
    period.type_strindex = otlp_string(&w->d, event);
    period.unit_strindex = otlp_string(&w->d, unit_of(q));
    head.sample_type = &type;
    /* Storage engines name a series after the period's type. They refuse a profile without one. */
    head.period_type = &period;
    head.period = q->interval ? (int64_t)q->interval : 1;
    head.duration_nano = q->elapsed_ns;
    if (!q->undated)
        head.time_unix_nano =
            w->r->first * 1000000000 + (uint64_t)formats_time_of_day(q, w->r->last);
    head.n_attribute_indices = number_quality(w, quality);
    head.attribute_indices = quality;
    (void)otlp__profile__pack_to_buffer(&head, &sink.buffer);
    add_samples(w, question, weights, &profile);

    Otlp__ScopeProfiles piece = OTLP__SCOPE_PROFILES__INIT;
    ProtobufCBinaryData one = {profile.len, (uint8_t *)profile.data};
    piece.n_profiles = 1;
    piece.profiles = &one;
    (void)otlp__scope_profiles__pack_to_buffer(&piece, &all.buffer);
    if (profile.failed)
        w->d.error = -ENOMEM;
    text_free(&profile);
}

static int add_event(struct otlp *w, const struct export_options *o) {
    static const struct query everything = {0};
    const struct query *question = w->part->question ? w->part->question : &everything;
    w->r = history_read(w->d.p, question);
    int err = w->r ? number_threads(w) : -ENOMEM;
    if (!err) {
        places_merge_seconds(w->r);
        bool total = formats_options(o, w->part->quality).total;
        if (!w->part->quality->uncounted)
            add_profile(w, question, !total);
        add_profile(w, question, total);
        err = w->d.error;
    }
    history_reading_free(w->r);
    free(w->thread);
    w->r = NULL;
    w->thread = NULL;
    return err;
}

/* Names the JVM by its main class or jar, taken from "Main (pid 123)". */
static void pack_resource(struct text *out, const struct export_quality *q,
                          const struct text *scope) {
    Otlp__Resource resource = OTLP__RESOURCE__INIT;
    Otlp__ResourceProfiles all = OTLP__RESOURCE_PROFILES__INIT;
    Otlp__KeyValue pair[2], *pairs[2] = {&pair[0], &pair[1]};
    Otlp__AnyValue value[2];
    struct otlp_sink sink = otlp_sink_of(out);
    char *name = strdup(q->jvm ? q->jvm : "java");
    char *pid = name ? strstr(name, " (pid ") : NULL;
    for (int i = 0; i < 2; i++) {
        otlp__key_value__init(&pair[i]);
        otlp__any_value__init(&value[i]);
        pair[i].value = &value[i];
    }
    if (pid)
        *pid = '\0';
    char service[] = "service.name", number[] = "process.pid";
    pair[0].key = service;
    value[0].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
    value[0].string_value = name;
    pair[1].key = number;
    value[1].value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
    value[1].int_value = pid ? strtoll(pid + strlen(" (pid "), NULL, 10) : 0;
    resource.n_attributes = pid ? 2 : 1;
    resource.attributes = pairs;
    ProtobufCBinaryData one = {scope->len, (uint8_t *)scope->data};
    all.resource = &resource;
    all.n_scope_profiles = 1;
    all.scope_profiles = &one;
    if (name)
        (void)otlp__resource_profiles__pack_to_buffer(&all, &sink.buffer);
    out->failed |= !name;
    free(name);
}

static void pack_all(struct otlp *w, struct text *out, const struct export_quality *q) {
    struct text scope = {0}, resource = {0};
    struct otlp_sink sink = otlp_sink_of(&scope), whole = otlp_sink_of(out);
    Otlp__Scope program = OTLP__SCOPE__INIT;
    Otlp__ScopeProfiles head = OTLP__SCOPE_PROFILES__INIT;
    char name[] = "jtop-prof", version[] = JTOP_VERSION;
    program.name = name;
    program.version = version;
    head.scope = &program;
    (void)otlp__scope_profiles__pack_to_buffer(&head, &sink.buffer);
    if (w->profiles.len)
        text_add_n(&scope, w->profiles.data, w->profiles.len);
    text_free(&w->profiles);
    pack_resource(&resource, q, &scope);

    Otlp__Data data = OTLP__DATA__INIT;
    ProtobufCBinaryData one = {resource.len, (uint8_t *)resource.data};
    data.n_resource_profiles = 1;
    data.resource_profiles = &one;
    data.dictionary.len = w->d.body.len;
    data.dictionary.data = (uint8_t *)w->d.body.data;
    (void)otlp__data__pack_to_buffer(&data, &whole.buffer);
    out->failed |= scope.failed || resource.failed || w->d.body.failed;
    text_free(&scope);
    text_free(&resource);
}

int otlp_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                    int parts, const struct export_options *o) {
    struct otlp w = {0};
    int err = otlp_dictionary_begin(&w.d, p, o);
    for (int i = 0; i < parts && !err; i++) {
        w.part = &part[i];
        err = add_event(&w, o);
    }
    if (!err) {
        out->failed |= w.profiles.failed;
        pack_all(&w, out, part[0].quality);
    }
    otlp_dictionary_free(&w.d);
    text_free(&w.profiles);
    return err || out->failed ? -ENOMEM : 0;
}

int otlp_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o) {
    const struct export_part part = {s, q, o->question};
    return otlp_export_all(out, p, &part, 1, o);
}
