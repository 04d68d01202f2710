/*
 * Writes the profile for programs: what was measured and how good the profile is, methods, threads
 * and stacks, one object per event. A name is a number: its index in "strings". The strings come
 * first, so that a reader that works line by line needs to keep nothing else. The fields are
 * described in man 5 jtop-prof.
 */
#include "core/export/formats.h"
#include "core/export/frame_walk.h"
#include "core/export/json_text.h"
#include "core/export/stack_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA 1 /* within one schema, fields may be added, but none is removed or changed */

struct json {
    struct text *out;
    struct frame_names *names;
    struct stack_path path;
    bool stacks; /* the event being written already has a stack */
};

/* ,"key": */
static void add_key(struct text *out, const char *key) {
    text_add(out, ",\"");
    text_add(out, key);
    text_add_n(out, "\":", 2);
}

static void add_number(struct text *out, const char *key, uint64_t n) {
    add_key(out, key);
    json_text_number(out, n);
}

static void add_string(struct text *out, const char *key, const char *s) {
    add_key(out, key);
    if (s)
        json_text_string(out, s);
    else
        text_add(out, "null");
}

/* Takes the pid from "Main (pid 123)"; 0: there is none. */
static uint64_t pid_of(const struct export_quality *q) {
    static const char mark[] = "(pid ";
    uint64_t pid = 0;
    const char *at = q->jvm ? strstr(q->jvm, mark) : NULL;
    for (; at; at = strstr(at, mark)) {
        at += sizeof mark - 1;
        pid = strtoull(at, NULL, 10);
    }
    return pid;
}

static void add_quality(struct text *out, const struct snapshot *s,
                        const struct export_quality *q) {
    text_add(out, "\"event\":");
    json_text_string(out, q->event ? q->event : "");
    add_string(out, "unit", q->unit ? q->unit : "total");
    add_number(out, "interval", q->interval);
    add_number(out, "elapsed_ns", q->elapsed_ns);
    add_number(out, "samples", s->samples);
    add_number(out, "weight", s->weight);
    add_number(out, "dropped", q->dropped);
    add_number(out, "walks", q->walks ? q->walks : s->samples);
    text_add(out, ",\"failed_walks\":{");
    for (int i = 0; i < q->failed_count; i++) {
        text_add(out, i ? "," : "");
        json_text_string(out, q->failed[i].name);
        text_add_n(out, ":", 1);
        json_text_number(out, q->failed[i].samples);
    }
    text_addf(out, "},\"biased\":%s", q->biased ? "true" : "false");
    if (q->coverage > 0)
        text_addf(out, ",\"coverage\":%.4f", q->coverage);
    if (q->windows) {
        add_number(out, "windows", q->windows);
        add_number(out, "window_ns", q->window_ns);
    }
    if (q->walker)
        add_string(out, "walker", q->walker);
    if (q->precise)
        add_string(out, "precise", q->precise);
}

static void add_tiers(struct text *out, const uint64_t tier[TIERS]) {
    static const char *const name[TIERS] = {[TIER_INTERPRETED] = "interpreted",
                                            [TIER_C1] = "c1",
                                            [TIER_C2] = "c2",
                                            [TIER_INLINED] = "inlined"};
    const char *separator = "";
    text_add(out, ",\"tiers\":{");
    for (int t = 0; t < TIERS; t++) {
        if (!name[t] || !tier[t])
            continue;
        text_addf(out, "%s\"%s\":", separator, name[t]);
        json_text_number(out, tier[t]);
        separator = ",";
    }
    text_add(out, "}");
}

static const char *kind_name(enum method_kind kind) {
    static const char *const name[METHOD_KINDS] = {
        [METHOD_JAVA] = "java",     [METHOD_NATIVE] = "native", [METHOD_CPP] = "c++",
        [METHOD_KERNEL] = "kernel", [METHOD_CLASS] = "class",   [METHOD_STUB] = "stub",
        [METHOD_ERROR] = "error",   [METHOD_THREAD] = "thread", [METHOD_COMPILING] = "compiling",
    };
    return name[kind];
}

static int add_methods(struct json *w, const struct snapshot *s) {
    text_add(w->out, ",\n\"methods\":[");
    for (uint32_t i = 0; i < s->method_count; i++) {
        const struct snapshot_method *row = &s->methods[i];
        /* a copy: the table may grow whenever text is added */
        const struct method m = *frame_names_method(w->names, row->method);
        const struct frame_printed *name = frame_names_get(w->names, row->method, row->tier);
        if (!name)
            return -ENOMEM;
        text_add(w->out, i ? ",\n{\"name\":" : "\n{\"name\":");
        json_text_number(w->out, name->id);
        text_addf(w->out, ",\"kind\":\"%s\"", kind_name(m.kind));
        if (m.module[0])
            add_string(w->out, "module", m.module);
        add_number(w->out, "self", row->self);
        add_number(w->out, "total", row->total);
        add_number(w->out, "self_samples", row->self_samples);
        add_number(w->out, "total_samples", row->total_samples);
        if (m.kind == METHOD_JAVA)
            add_tiers(w->out, row->tier);
        text_add(w->out, "}");
    }
    text_add(w->out, "]");
    return 0;
}

static void add_threads(struct text *out, const struct snapshot *s) {
    text_add(out, ",\n\"threads\":[");
    for (uint32_t i = 0; i < s->thread_count; i++) {
        const struct snapshot_thread *t = &s->threads[i];
        text_add(out, i ? ",\n{\"name\":" : "\n{\"name\":");
        json_text_string(out, t->name ? t->name : "");
        add_number(out, "tid", t->tid);
        add_number(out, t->is_virtual ? "virtual_id" : "java_id", t->java_id);
        add_number(out, "weight", t->weight);
        add_number(out, "samples", t->samples);
        text_add(out, t->ended ? ",\"ended\":true}" : "}");
    }
    text_add(out, "]");
}

static int visit(void *arg, const struct walked_frame *f) {
    struct json *w = arg;
    char digits[JSON_TEXT_DIGITS];
    int err =
        stack_path_set(&w->path, f->depth, digits, json_text_digits(f->name->id, digits), ',');
    if (err)
        return err;
    if (!f->self && !f->self_samples)
        return w->out->failed ? -ENOMEM : 0;
    text_add(w->out, w->stacks ? ",\n[" : "\n[");
    json_text_number(w->out, f->self_samples);
    text_add_n(w->out, ",", 1);
    json_text_number(w->out, f->self);
    text_add_n(w->out, ",[", 2);
    text_add_n(w->out, w->path.text, stack_path_length(&w->path, f->depth));
    text_add_n(w->out, "]]", 2);
    w->stacks = true;
    return 0;
}

static int add_event(struct json *w, const struct export_part *part) {
    text_add(w->out, "\n{");
    add_quality(w->out, part->snapshot, part->quality);
    int err = add_methods(w, part->snapshot);
    add_threads(w->out, part->snapshot);
    text_add(w->out, ",\n\"stacks\":[");
    w->stacks = false;
    if (!err)
        err = frame_walk(part->snapshot, w->names, visit, w);
    text_add(w->out, "]}");
    return err;
}

/* Gives every name its number, before anything that uses it is written. */
static int number_names(struct json *w, const struct snapshot *s) {
    for (uint32_t i = 0; i < s->method_count; i++)
        if (!frame_names_get(w->names, s->methods[i].method, s->methods[i].tier))
            return -ENOMEM;
    for (uint32_t i = 0; i < s->node_count; i++)
        if (!frame_names_get(w->names, s->nodes[i].method, s->nodes[i].tier))
            return -ENOMEM;
    return 0;
}

static void add_head(struct json *w, const struct export_quality *q) {
    text_addf(w->out, "{\"format\":\"jtop-prof\",\"schema\":%d", SCHEMA);
    add_string(w->out, "program", "jtop-prof " JTOP_VERSION);
    add_string(w->out, "jvm", q->jvm);
    if (pid_of(q))
        add_number(w->out, "pid", pid_of(q));
    text_add(w->out, ",\n\"strings\":[");
    for (uint32_t i = 0; i < frame_names_count(w->names); i++) {
        text_add(w->out, i ? ",\n" : "\n");
        json_text_string(w->out, frame_names_by_id(w->names, i)->text);
    }
    text_add(w->out, "],\n\"events\":[");
}

int json_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                    int parts, const struct export_options *o) {
    struct json w = {.out = out};
    w.names = frame_names_new(profile_methods_const(p), formats_name_style(o) | NAME_DOTTED,
                              o->annotate, NULL);
    int err = w.names ? 0 : -ENOMEM;
    for (int i = 0; i < parts && !err; i++)
        err = number_names(&w, part[i].snapshot);
    if (!err)
        add_head(&w, part[0].quality);
    for (int i = 0; i < parts && !err; i++) {
        text_add(out, i ? "," : "");
        err = add_event(&w, &part[i]);
    }
    text_add(out, "]}\n");
    frame_names_free(w.names);
    stack_path_free(&w.path);
    return err || out->failed ? -ENOMEM : 0;
}

int json_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o) {
    const struct export_part part = {s, q, o->question};
    return json_export_all(out, p, &part, 1, o);
}
