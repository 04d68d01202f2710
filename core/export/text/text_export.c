/*
 * Writes a report for people: a summary, the heaviest stacks (leaf first), and the methods with the
 * most self weight.
 * source: async-profiler's text output, to the blank.
 */
#include "core/export/formats.h"
#include "core/export/frame_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_DEFAULT_ROWS 200

/* Adds the lines that a profile of CPU time alone does not need. */
static void summary_of_event(struct text *out, const struct snapshot *s,
                             const struct export_quality *q) {
    const char *event = q->event ? q->event : "";
    if (*event && (q->several || strcmp(event, "cpu") != 0))
        text_addf(out, "%-20s: %s, %" PRIu64 " %s\n", "event", event, s->weight,
                  q->unit ? q->unit : "total");
    if (q->uncounted)
        text_addf(out, "%-20s: the file has only weights; each record is one sample\n",
                  "no sample counts");
    if (q->biased)
        text_addf(out, "%-20s: samples are taken at safepoints only\n", "BIASED");
    if (q->how)
        text_addf(out, "%-20s: %s\n", "sampled by", q->how);
    if (q->budget)
        text_addf(out, "%-20s: %s\n", "budget", q->budget);
    if (q->quota > 0)
        text_addf(out, "%-20s: in %.1f%% of the periods: the CPU quota is %.4g%%\n", "throttled",
                  100 * q->throttled, 100 * q->quota);
    if (q->coverage > 0)
        text_addf(out, "%-20s: %.1f%% of the threads' time is in samples\n", "coverage",
                  100 * q->coverage);
    if (q->windows)
        text_addf(out, "%-20s: %" PRIu64 ", %.3f ms\n", "windows", q->windows,
                  (double)q->window_ns / 1e6);
}

static void summary(struct text *out, const struct snapshot *s, const struct export_quality *q) {
    text_addf(out, "--- Execution profile ---\nTotal samples       : %" PRIu64 "\n", s->samples);
    summary_of_event(out, s, q);
    for (int i = 0; i < q->failed_count; i++) {
        if (q->failed[i].samples)
            text_addf(out, "%-20s: %" PRIu64 " (%.2f%%%s)\n", q->failed[i].name,
                      q->failed[i].samples,
                      formats_percent(q->failed[i].samples, q->walks ? q->walks : s->samples),
                      q->walks ? " of all events" : "");
    }
    if (q->dropped)
        text_addf(out, "%-20s: %" PRIu64 " (%.2f%%)\n", "dropped", q->dropped,
                  formats_percent(q->dropped, s->samples + q->dropped));
    if (q->walker)
        text_addf(out, "%-20s: %s\n", "walker", q->walker);
    if (q->precise)
        text_addf(out, "%-20s: %s\n", "precise", q->precise);
    text_add(out, "\n");
}

/* The heaviest stacks are found by a first walk, which lists what each stack weighs. A second one
 * keeps the frames of those that are shown, as chains from the leaf to the root. */
struct chain {
    uint32_t parent; /* index into chains; UINT32_MAX: none, this is a root */
    uint32_t name;
};

struct stack {
    uint64_t weight, samples;
    uint32_t place; /* in the order of the walk */
    uint32_t leaf;  /* index into chains */
};

/* A frame of the stack where the walk is. */
struct open {
    uint32_t name;
    uint32_t chain; /* its index; UINT32_MAX: it has none yet */
};

struct stacks {
    struct chain *chain;
    uint32_t chain_len, chain_cap;
    struct stack *stack;
    uint32_t stack_len, stack_cap;
    struct open *open; /* by depth */
    uint32_t open_cap;
    uint32_t place; /* number of stacks seen by the second walk */
    uint32_t next;  /* the next of `stack` that it will meet */
};

/* Makes room in *list for one more entry of `size` bytes. */
static bool grow(void *list, uint32_t len, uint32_t *cap, size_t size) {
    if (len < *cap)
        return true;
    uint32_t more = *cap ? *cap * 2 : 1024;
    if (more <= len)
        more = len + 1;
    void *old = *(void **)list;
    void *new = realloc(old, more * size);
    if (!new)
        return false;
    *(void **)list = new;
    *cap = more;
    return true;
}

static int list_stack(void *arg, const struct walked_frame *f) {
    struct stacks *t = arg;
    if (!f->self && !f->self_samples)
        return 0;
    if (!grow(&t->stack, t->stack_len, &t->stack_cap, sizeof(*t->stack)))
        return -ENOMEM;
    t->stack[t->stack_len] = (struct stack){f->self, f->self_samples, t->stack_len, 0};
    t->stack_len++;
    return 0;
}

/* Makes chains of the open frames down to this depth; frames that are shared have one already. */
static int keep_chain(struct stacks *t, uint32_t depth) {
    uint32_t from = depth + 1;
    while (from > 0 && t->open[from - 1].chain == UINT32_MAX)
        from--;
    for (uint32_t d = from; d <= depth; d++) {
        if (!grow(&t->chain, t->chain_len, &t->chain_cap, sizeof(*t->chain)))
            return -ENOMEM;
        uint32_t parent = d ? t->open[d - 1].chain : UINT32_MAX;
        t->chain[t->chain_len] = (struct chain){.parent = parent, .name = t->open[d].name};
        t->open[d].chain = t->chain_len++;
    }
    return 0;
}

static int keep_stack(void *arg, const struct walked_frame *f) {
    struct stacks *t = arg;
    if (!grow(&t->open, f->depth, &t->open_cap, sizeof(*t->open)))
        return -ENOMEM;
    t->open[f->depth] = (struct open){f->name->id, UINT32_MAX};
    if ((!f->self && !f->self_samples) || t->next == t->stack_len ||
        t->stack[t->next].place != t->place++)
        return 0;
    int err = keep_chain(t, f->depth);
    t->stack[t->next++].leaf = t->open[f->depth].chain;
    return err;
}

static int by_place(const void *a, const void *b) {
    const struct stack *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_weight(const void *a, const void *b) {
    const struct stack *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    return by_place(a, b);
}

/* Leaves the heaviest stacks, at most this many, with their frames. */
static int find_stacks(struct stacks *t, struct frame_names *names, const struct snapshot *s,
                       uint32_t most) {
    int err = frame_walk(s, names, list_stack, t);
    if (err || !t->stack_len)
        return err;
    qsort(t->stack, t->stack_len, sizeof(*t->stack), by_weight);
    t->stack_len = t->stack_len < most ? t->stack_len : most;
    qsort(t->stack, t->stack_len, sizeof(*t->stack), by_place);
    err = frame_walk(s, names, keep_stack, t);
    qsort(t->stack, t->stack_len, sizeof(*t->stack), by_weight);
    return err;
}

static int traces(struct text *out, struct frame_names *names, const struct snapshot *s,
                  const char *unit, uint32_t most) {
    struct stacks t = {0};
    int err = find_stacks(&t, names, s, most);
    for (uint32_t i = 0; !err && i < t.stack_len; i++) {
        const struct stack *k = &t.stack[i];
        text_addf(out, "--- %" PRIu64 " %s (%.2f%%), %" PRIu64 " sample%s\n", k->weight, unit,
                  formats_percent(k->weight, s->weight), k->samples, k->samples == 1 ? "" : "s");
        uint32_t depth = 0;
        for (uint32_t c = k->leaf; c != UINT32_MAX; c = t.chain[c].parent)
            text_addf(out, "  [%2u] %s\n", depth++,
                      frame_names_by_id(names, t.chain[c].name)->text);
        text_add(out, "\n");
    }
    free(t.chain);
    free(t.stack);
    free(t.open);
    return err;
}

struct flat_row {
    const char *name;
    uint64_t weight, samples;
};

static int flat_order(const void *a, const void *b) {
    const struct flat_row *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    return strcmp(x->name, y->name);
}

struct flat_rows {
    struct flat_row *row; /* by the id of the name */
    uint32_t count, cap;
};

static int add_flat(struct flat_rows *r, const struct frame_printed *n, uint64_t weight,
                    uint64_t samples) {
    while (r->count <= n->id) {
        if (!grow(&r->row, r->count, &r->cap, sizeof(*r->row)))
            return -ENOMEM;
        r->row[r->count++] = (struct flat_row){0};
    }
    r->row[n->id].name = n->text;
    r->row[n->id].weight += weight;
    r->row[n->id].samples += samples;
    return 0;
}

static int add_flat_frame(void *arg, const struct walked_frame *f) {
    return add_flat(arg, f->name, f->self, f->self_samples);
}

/* Collects the flat rows. A method's row has its self weight but not its tiers: if names show
 * tiers, the weights come from the tree. */
static int collect_flat(struct flat_rows *r, struct frame_names *names, const struct snapshot *s,
                        bool annotate) {
    int err = 0;
    if (annotate)
        return frame_walk(s, names, add_flat_frame, r);
    for (uint32_t i = 0; !err && i < s->method_count; i++) {
        const struct snapshot_method *m = &s->methods[i];
        const struct frame_printed *n = frame_names_get(names, m->method, m->tier);
        err = n ? add_flat(r, n, m->self, m->self_samples) : -ENOMEM;
    }
    return err;
}

static int flat(struct text *out, struct frame_names *names, const struct snapshot *s,
                const char *unit, uint32_t most, bool annotate) {
    struct flat_rows r = {0};
    int err = collect_flat(&r, names, s, annotate);
    struct flat_row *rows = r.row;
    if (err) {
        free(rows);
        return err;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < r.count; i++) {
        if (rows[i].weight || rows[i].samples)
            rows[used++] = rows[i];
    }
    if (used)
        qsort(rows, used, sizeof(*rows), flat_order);

    text_addf(out, "%12s  percent  samples  top\n  ----------  -------  -------  ---\n", unit);
    for (uint32_t i = 0; i < used && i < most; i++)
        text_addf(out, "%12" PRIu64 "  %6.2f%%  %7" PRIu64 "  %s\n", rows[i].weight,
                  formats_percent(rows[i].weight, s->weight), rows[i].samples, rows[i].name);
    free(rows);
    return 0;
}

int text_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o) {
    bool all = !o->want_summary && !o->want_traces && !o->want_flat;
    const char *unit = q->unit ? q->unit : "total";
    struct frame_names *names = frame_names_new(
        profile_methods_const(p), formats_name_style(o) | NAME_DOTTED, o->annotate, NULL);
    if (!names)
        return -ENOMEM;

    int err = 0;
    summary(out, s, q); /* always written: it states how good the rest is */
    if (all || o->want_traces)
        err = traces(out, names, s, unit, o->traces ? o->traces : TEXT_DEFAULT_ROWS);
    if (!err && (all || o->want_flat))
        err = flat(out, names, s, unit, o->flat ? o->flat : TEXT_DEFAULT_ROWS, o->annotate);
    frame_names_free(names);
    return err || out->failed ? -ENOMEM : 0;
}
