#include "tui/cli/compare/compare_rows.h"

#include "core/profile/snapshot/chance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double change_of(const struct compare_row *r) {
    return fabs(r->share[1] - r->share[0]);
}

static int by_change(const void *a, const void *b) {
    const struct compare_row *x = a, *y = b;
    double p = change_of(x), q = change_of(y);
    if (p != q)
        return p > q ? -1 : 1;
    return x->method < y->method ? -1 : x->method > y->method;
}

static int mark(struct compare_rows *r) {
    double *chance = malloc(((size_t)r->count + 1) * sizeof *chance);
    if (!chance)
        return -ENOMEM;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->row[i].samples[0] + r->row[i].samples[1] >= CHANCE_SAMPLES)
            chance[rows++] = r->row[i].chance;
    double limit = chance_limit(chance, rows);
    free(chance);
    for (uint32_t i = 0; i < r->count; i++) {
        r->row[i].changed = r->row[i].chance <= limit;
        r->changed += r->row[i].changed;
    }
    return 0;
}

static uint32_t highest(const struct snapshot *s, uint32_t least) {
    for (uint32_t i = 0; i < s->method_count; i++)
        if (s->methods[i].method >= least)
            least = s->methods[i].method + 1;
    return least;
}

int compare_rows_make(const struct snapshot *a, const struct snapshot *b, bool counted,
                      struct compare_rows *out) {
    const struct snapshot *of[2] = {a, b};
    uint32_t ids = highest(b, highest(a, 0)), count = 0;
    *out = (struct compare_rows){.row = calloc((size_t)ids + 1, sizeof *out->row)};
    if (!out->row)
        return -ENOMEM;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < of[side]->method_count; i++) {
            const struct snapshot_method *m = &of[side]->methods[i];
            struct compare_row *r = &out->row[m->method];
            r->weight[side] = m->self;
            r->samples[side] = m->self_samples;
            if (of[side]->weight)
                r->share[side] = (double)m->self / (double)of[side]->weight;
        }
    for (uint32_t i = 0; i < ids; i++) {
        struct compare_row r = out->row[i];
        if (!r.weight[0] && !r.weight[1] && !r.samples[0] && !r.samples[1])
            continue;
        r.method = i;
        r.chance = chance_of(r.samples[0], a->samples, r.samples[1], b->samples);
        out->row[count++] = r;
    }
    out->count = count;
    if (count > 1)
        qsort(out->row, count, sizeof *out->row, by_change);
    int r = counted ? mark(out) : 0;
    if (r < 0)
        compare_rows_free(out);
    return r;
}

void compare_rows_free(struct compare_rows *r) {
    free(r->row);
    *r = (struct compare_rows){0};
}
