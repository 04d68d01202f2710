/*
 * For people: a summary, the heaviest stacks, leaf first, and the methods with the most self.
 * source: async-profiler's text output, to the blank.
 */
#include "core/export/formats.h"
#include "core/export/frame_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_DEFAULT_ROWS 200

static void summary(struct text *out, const struct snapshot *s, const struct export_quality *q) {
    text_addf(out, "--- Execution profile ---\nTotal samples       : %" PRIu64 "\n", s->samples);
    for (int i = 0; i < q->failed_count; i++) {
        if (q->failed[i].samples)
            text_addf(out, "%-20s: %" PRIu64 " (%.2f%%)\n", q->failed[i].name, q->failed[i].samples,
                      formats_percent(q->failed[i].samples, s->samples));
    }
    if (q->dropped)
        text_addf(out, "%-20s: %" PRIu64 " (%.2f%%)\n", "dropped", q->dropped,
                  formats_percent(q->dropped, s->samples + q->dropped));
    text_add(out, "\n");
}

/* Distinct stacks, as chains from the leaf to the root. */
struct chain {
    uint32_t parent; /* index into chains; UINT32_MAX: a root */
    uint32_t name;
};

struct stack {
    uint64_t weight, samples;
    uint32_t leaf; /* index into chains, and so the order in which the walk came by */
};

struct stacks {
    struct chain *chain;
    uint32_t chain_len, chain_cap;
    struct stack *stack;
    uint32_t stack_len, stack_cap;
    uint32_t *open; /* index of the frame that is open at each depth */
    uint32_t open_cap;
};

/* Room for one more of `size` bytes each in *list. */
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

static int collect(void *arg, const struct walked_frame *f) {
    struct stacks *t = arg;
    if (!grow(&t->open, f->depth, &t->open_cap, sizeof(*t->open)) ||
        !grow(&t->chain, t->chain_len, &t->chain_cap, sizeof(*t->chain)) ||
        !grow(&t->stack, t->stack_len, &t->stack_cap, sizeof(*t->stack)))
        return -ENOMEM;
    uint32_t parent = f->depth ? t->open[f->depth - 1] : UINT32_MAX;
    t->chain[t->chain_len] = (struct chain){.parent = parent, .name = f->name->id};
    t->open[f->depth] = t->chain_len;
    if (f->self || f->self_samples)
        t->stack[t->stack_len++] = (struct stack){f->self, f->self_samples, t->chain_len};
    t->chain_len++;
    return 0;
}

static int by_weight(const void *a, const void *b) {
    const struct stack *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

static int traces(struct text *out, struct frame_names *names, const struct snapshot *s,
                  const char *unit, uint32_t most) {
    struct stacks t = {0};
    int err = frame_walk(s, names, collect, &t);
    if (!err && t.stack_len)
        qsort(t.stack, t.stack_len, sizeof(*t.stack), by_weight);
    for (uint32_t i = 0; !err && i < t.stack_len && i < most; i++) {
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

static int flat(struct text *out, struct frame_names *names, const struct snapshot *s,
                const char *unit, uint32_t most) {
    uint32_t have = frame_names_count(names);
    struct flat_row *rows = calloc((size_t)have + s->method_count + 1, sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->method_count; i++) {
        const struct snapshot_method *m = &s->methods[i];
        const struct frame_printed *n = frame_names_get(names, m->method, m->tier);
        if (!n) {
            free(rows);
            return -ENOMEM;
        }
        rows[n->id].name = n->text;
        rows[n->id].weight += m->self;
        rows[n->id].samples += m->self_samples;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < frame_names_count(names); i++) {
        if (rows[i].weight || rows[i].samples)
            rows[used++] = rows[i];
    }
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
    summary(out, s, q); /* always: it says how good the rest is */
    if (all || o->want_traces)
        err = traces(out, names, s, unit, o->traces ? o->traces : TEXT_DEFAULT_ROWS);
    if (!err && (all || o->want_flat))
        err = flat(out, names, s, unit, o->flat ? o->flat : TEXT_DEFAULT_ROWS);
    frame_names_free(names);
    return err || out->failed ? -ENOMEM : 0;
}
