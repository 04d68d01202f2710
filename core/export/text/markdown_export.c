/*
 * Writes a report to paste into a ticket: what was measured and how good the profile is, the
 * hottest methods, threads and paths, and the classes for allocation and locks. If a class is the
 * leaf of a stack, its weight counts as self of the method that allocated or waited.
 */
#include "core/export/caption.h"
#include "core/export/formats.h"
#include "core/export/frame_walk.h"
#include "core/export/human.h"
#include "core/export/text/markdown_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define METHODS 20u
#define THREADS 10u
#define CLASSES 10u
#define PATHS 5u
#define PATH_FRAMES 16u /* frames next to the leaf */

/* What the walk collects for a printed name. */
struct row {
    uint64_t self, total, samples;
    uint32_t name;
    uint32_t open; /* frames of that name on the current path: recursion counts once */
    bool is_class;
};

struct path {
    uint64_t weight, samples;
    uint32_t depth; /* depth of the leaf, from 0 */
    uint32_t name[PATH_FRAMES];
};

struct report {
    struct text *out;
    const struct export_part *part;
    struct frame_names *names;
    struct row *row; /* by name */
    uint32_t rows, row_cap;
    uint32_t *open; /* names on the current path, by depth */
    uint32_t depth, open_cap;
    struct path path[PATHS]; /* by weight, descending */
    uint32_t paths;
};

static const char *unit_of(const struct report *r) {
    return r->part->quality->unit ? r->part->quality->unit : "total";
}

static int reserve(struct report *r, uint32_t name, uint32_t depth) {
    if (name >= r->row_cap) {
        uint32_t cap = name * 2 + 1024;
        struct row *row = realloc(r->row, cap * sizeof *row);
        if (!row)
            return -ENOMEM;
        memset(row + r->row_cap, 0, (cap - r->row_cap) * sizeof *row);
        r->row = row;
        r->row_cap = cap;
    }
    if (depth >= r->open_cap) {
        uint32_t cap = depth * 2 + 64;
        uint32_t *open = realloc(r->open, cap * sizeof *open);
        if (!open)
            return -ENOMEM;
        r->open = open;
        r->open_cap = cap;
    }
    r->rows = name >= r->rows ? name + 1 : r->rows;
    return 0;
}

static void keep_path(struct report *r, const struct walked_frame *f) {
    uint32_t at = r->paths;
    while (at && r->path[at - 1].weight < f->self)
        at--;
    if (at == PATHS)
        return;
    uint32_t moved = (r->paths < PATHS ? r->paths : PATHS - 1) - at;
    memmove(&r->path[at + 1], &r->path[at], moved * sizeof r->path[0]);
    r->paths += r->paths < PATHS;
    struct path *p = &r->path[at];
    *p = (struct path){f->self, f->self_samples, f->depth, {0}};
    for (uint32_t i = 0; i < PATH_FRAMES && i <= f->depth; i++)
        p->name[i] = r->open[f->depth - i];
}

static int visit(void *arg, const struct walked_frame *f) {
    struct report *r = arg;
    if (reserve(r, f->name->id, f->depth) != 0)
        return -ENOMEM;
    while (r->depth > f->depth)
        r->row[r->open[--r->depth]].open--;
    struct row *row = &r->row[f->name->id];
    row->name = f->name->id;
    row->is_class = frame_names_method(r->names, f->method)->kind == METHOD_CLASS;
    if (!row->open++)
        row->total += f->total;
    row->self += f->self;
    row->samples += f->self_samples;
    if (row->is_class && f->depth) {
        struct row *caller = &r->row[r->open[f->depth - 1]];
        caller->self += f->self;
        caller->samples += f->self_samples;
    }
    r->open[r->depth++] = f->name->id;
    if (f->self)
        keep_path(r, f);
    return 0;
}

static int by_self(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void add_rows(const struct report *r, bool classes, const char *heading, uint32_t most) {
    struct text *out = r->out;
    uint64_t whole = r->part->snapshot->weight;
    uint32_t shown = 0, left = 0;
    for (uint32_t i = 0; i < r->rows; i++) {
        const struct row *row = &r->row[i];
        if (row->is_class != classes || !row->self)
            continue;
        if (shown == most) {
            left++;
            continue;
        }
        if (!shown++)
            text_addf(out, "\n| Self | Total | %s | Samples | %s |\n|---:|---:|---:|---:|:---|\n",
                      !strcmp(unit_of(r), "ns")      ? "Time"
                      : !strcmp(unit_of(r), "bytes") ? "Bytes"
                                                     : "Count",
                      heading);
        text_addf(out, "| %.2f%% | %.2f%% | ", formats_percent(row->self, whole),
                  formats_percent(row->total, whole));
        human_weight(out, row->self, unit_of(r));
        text_add(out, " | ");
        human_count(out, row->samples);
        text_add(out, " | ");
        markdown_text_code(out, frame_names_by_id(r->names, row->name)->text);
        text_add(out, " |\n");
    }
    if (left)
        text_addf(out, "\n… and %" PRIu32 " more.\n", left);
}

static int by_weight(const void *a, const void *b) {
    const struct snapshot_thread *x = *(const struct snapshot_thread *const *)a;
    const struct snapshot_thread *y = *(const struct snapshot_thread *const *)b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int add_threads(const struct report *r) {
    const struct snapshot *s = r->part->snapshot;
    const struct snapshot_thread **order = calloc((size_t)s->thread_count + 1, sizeof(void *));
    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->thread_count; i++)
        order[i] = &s->threads[i];
    qsort(order, s->thread_count, sizeof(void *), by_weight);
    if (s->thread_count)
        text_add(r->out, "\n| Share | Samples | Thread |\n|---:|---:|:---|\n");
    for (uint32_t i = 0; i < s->thread_count && i < THREADS; i++) {
        text_addf(r->out, "| %.2f%% | ", formats_percent(order[i]->weight, s->weight));
        human_count(r->out, order[i]->samples);
        text_add(r->out, " | ");
        const char *name = order[i]->name ? order[i]->name : "";
        markdown_text_code(r->out, *name ? name : "[unnamed]");
        text_addf(r->out, " tid %" PRIu32 " |\n", order[i]->tid);
    }
    if (s->thread_count > THREADS)
        text_addf(r->out, "\n… and %" PRIu32 " more.\n", s->thread_count - THREADS);
    free(order);
    return 0;
}

/* In a code block no character has a special meaning, and indented lines do not end the block. */
static void add_paths(const struct report *r) {
    for (uint32_t i = 0; i < r->paths; i++) {
        const struct path *p = &r->path[i];
        text_add(r->out, i ? "\n" : "\nLeaf first:\n\n```text\n");
        text_addf(r->out, "%.2f%%, ", formats_percent(p->weight, r->part->snapshot->weight));
        human_weight(r->out, p->weight, unit_of(r));
        text_add(r->out, ", ");
        human_count(r->out, p->samples);
        text_add(r->out, p->samples == 1 ? " sample\n" : " samples\n");
        uint32_t frames = p->depth + 1, shown = frames < PATH_FRAMES ? frames : PATH_FRAMES;
        for (uint32_t k = 0; k < shown; k++)
            text_addf(r->out, "    %s\n", frame_names_by_id(r->names, p->name[k])->text);
        if (frames > shown)
            text_addf(r->out, "    … %" PRIu32 " more\n", frames - shown);
    }
    if (r->paths)
        text_add(r->out, "```\n");
}

static void add_head(const struct report *r, const struct export_options *o) {
    struct text title = {0}, subtitle = {0};
    caption_title(&title, r->part->quality, o);
    caption_subtitle(&subtitle, r->part->snapshot, r->part->quality, o);
    r->out->failed |= title.failed || subtitle.failed;
    text_add(r->out, "## ");
    markdown_text_words(r->out, title.data ? title.data : "");
    text_add(r->out, "\n\n");
    markdown_text_words(r->out, subtitle.data ? subtitle.data : "");
    text_add(r->out, "\n");
    if (!r->part->snapshot->samples)
        text_add(r->out, "\nNo samples.\n");
    text_free(&title);
    text_free(&subtitle);
}

static int add_event(struct report *r, const struct export_options *o) {
    const char *event = r->part->quality->event ? r->part->quality->event : "";
    add_head(r, o);
    int err = frame_walk(r->part->snapshot, r->names, visit, r);
    if (err)
        return err;
    if (r->rows)
        qsort(r->row, r->rows, sizeof *r->row, by_self);
    add_rows(r, true, !strcmp(event, "lock") ? "Lock" : "Class", CLASSES);
    add_rows(r, false, "Method", METHODS);
    err = add_threads(r);
    if (!err)
        add_paths(r);
    return err;
}

int markdown_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                        int parts, const struct export_options *o) {
    int err = 0;
    for (int i = 0; i < parts && !err; i++) {
        struct report r = {.out = out, .part = &part[i]};
        r.names = frame_names_new(profile_methods_const(p), formats_name_style(o) | NAME_DOTTED,
                                  o->annotate, NULL);
        text_add(out, i ? "\n" : "");
        err = r.names ? add_event(&r, o) : -ENOMEM;
        frame_names_free(r.names);
        free(r.row);
        free(r.open);
    }
    text_add(out, "\njtop-prof " JTOP_VERSION "\n");
    return err || out->failed ? -ENOMEM : 0;
}

int markdown_export(struct text *out, const struct profile *p, const struct snapshot *s,
                    const struct export_quality *q, const struct export_options *o) {
    const struct export_part part = {s, q, o->question};
    return markdown_export_all(out, p, &part, 1, o);
}
