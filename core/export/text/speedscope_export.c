/*
 * Writes speedscope's own format: a table of frames, and "sampled" profiles, one per event, or
 * with -t one per thread. A profile contains stacks as lists of frame numbers, root first, and
 * their weights.
 * source: speedscope's file-format-schema.json.
 */
#include "core/export/caption.h"
#include "core/export/formats.h"
#include "core/export/frame_walk.h"
#include "core/export/json_text.h"
#include "core/export/stack_path.h"

#include <errno.h>
#include <string.h>

struct speedscope {
    struct text *out;
    struct text weights; /* weights of the profile being written */
    struct frame_names *names;
    struct stack_path path;
    const struct export_part *part;
    uint64_t sum;         /* sum of these weights */
    uint32_t profiles;    /* number of profiles begun */
    uint32_t heaviest;    /* the profile that speedscope shows first */
    uint64_t heaviest_of; /* its weight; only profiles of the first event are considered */
    bool stacks;          /* the profile being written already has a stack */
    bool open;
    bool first; /* the first event */
};

static const char *unit_of(const struct export_quality *q) {
    return !q->unit                    ? "none"
           : !strcmp(q->unit, "ns")    ? "nanoseconds"
           : !strcmp(q->unit, "bytes") ? "bytes"
                                       : "none";
}

static void begin_profile(struct speedscope *w, const char *name) {
    text_add(w->out, w->profiles ? ",\n" : "\n");
    text_add(w->out, "{\"type\":\"sampled\",\"name\":");
    json_text_string(w->out, name);
    text_addf(w->out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[", unit_of(w->part->quality));
    text_clear(&w->weights);
    w->profiles++;
    w->sum = 0;
    w->stacks = false;
    w->open = true;
}

static void end_profile(struct speedscope *w) {
    if (!w->open)
        return;
    text_add(w->out, "],\n\"weights\":[");
    if (w->weights.len)
        text_add_n(w->out, w->weights.data, w->weights.len);
    text_add(w->out, "],\"endValue\":");
    json_text_number(w->out, w->sum);
    text_add(w->out, "}");
    w->open = false;
    if (w->first && w->sum > w->heaviest_of) {
        w->heaviest = w->profiles - 1;
        w->heaviest_of = w->sum;
    }
}

static void add_stack(struct speedscope *w, size_t path_len, uint64_t weight) {
    if (w->stacks) {
        text_add_n(w->out, ",\n", 2);
        text_add_n(&w->weights, ",", 1);
    }
    text_add_n(w->out, "[", 1);
    text_add_n(w->out, w->path.text, path_len);
    text_add_n(w->out, "]", 1);
    json_text_number(&w->weights, weight);
    w->sum += weight;
    w->stacks = true;
}

static int visit(void *arg, const struct walked_frame *f) {
    struct speedscope *w = arg;
    uint32_t depth = f->depth;
    if (w->part->snapshot->by_thread) {
        if (depth == 0) {
            end_profile(w);
            begin_profile(w, f->name->text);
            if (f->self || f->self_samples)
                add_stack(w, 0, f->self);
            return w->out->failed ? -ENOMEM : 0;
        }
        depth--;
    }
    char digits[JSON_TEXT_DIGITS];
    int err = stack_path_set(&w->path, depth, digits, json_text_digits(f->name->id, digits), ',');
    if (err)
        return err;
    if (f->self || f->self_samples)
        add_stack(w, stack_path_length(&w->path, depth), f->self);
    return w->out->failed || w->weights.failed ? -ENOMEM : 0;
}

static void add_frames(struct speedscope *w) {
    text_add(w->out, "],\n\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < frame_names_count(w->names); i++) {
        text_add(w->out, i ? ",\n{\"name\":" : "\n{\"name\":");
        json_text_string(w->out, frame_names_by_id(w->names, i)->text);
        text_add(w->out, "}");
    }
    text_add(w->out, "]}");
}

static void add_title(struct speedscope *w, const struct export_options *o) {
    struct text title = {0};
    caption_title(&title, w->part->quality, o);
    text_add(&title, " \xc2\xb7 ");
    caption_subtitle(&title, w->part->snapshot, w->part->quality, o);
    json_text_string(w->out, title.failed ? "" : title.data);
    w->out->failed |= title.failed;
    text_free(&title);
}

static int add_event(struct speedscope *w) {
    const struct snapshot *s = w->part->snapshot;
    const char *event = w->part->quality->event;
    if (!s->by_thread || !s->node_count)
        begin_profile(w, event && *event ? event : "profile");
    int err = frame_walk(s, w->names, visit, w);
    end_profile(w);
    return err;
}

int speedscope_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                          int parts, const struct export_options *o) {
    struct speedscope w = {.out = out, .part = part, .first = true};
    w.names = frame_names_new(profile_methods_const(p), formats_name_style(o) | NAME_DOTTED,
                              o->annotate, NULL);
    int err = w.names ? 0 : -ENOMEM;
    text_add(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                  "\"exporter\":\"jtop-prof " JTOP_VERSION "\",\n\"name\":");
    add_title(&w, o);
    text_add(out, ",\n\"profiles\":[");
    for (int i = 0; i < parts && !err; i++) {
        w.part = &part[i];
        w.first = i == 0;
        err = add_event(&w);
    }
    if (!err)
        add_frames(&w);
    text_addf(out, ",\n\"activeProfileIndex\":%u}\n", w.heaviest);
    out->failed |= w.weights.failed;
    frame_names_free(w.names);
    stack_path_free(&w.path);
    text_free(&w.weights);
    return err || out->failed ? -ENOMEM : 0;
}

int speedscope_export(struct text *out, const struct profile *p, const struct snapshot *s,
                      const struct export_quality *q, const struct export_options *o) {
    const struct export_part part = {s, q, o->question};
    return speedscope_export_all(out, p, &part, 1, o);
}
