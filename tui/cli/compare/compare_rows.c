#include "tui/cli/compare/compare_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTED_MIN 5 /* of each kind; with less, the normal distribution does not fit */

static double log_choose(double n, double k) {
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Fisher's exact test, two-sided: sums all outcomes that are no more likely than the observed
 * one. */
static double exact_chance(uint64_t a, uint64_t n, uint64_t b, uint64_t m) {
    uint64_t k = a + b;
    double whole = log_choose((double)n + (double)m, (double)k), sum = 0;
    double found = log_choose((double)n, (double)a) + log_choose((double)m, (double)b) - whole;
    for (uint64_t x = k > m ? k - m : 0; x <= k && x <= n; x++) {
        double likely =
            log_choose((double)n, (double)x) + log_choose((double)m, (double)(k - x)) - whole;
        if (likely <= found + 1e-7)
            sum += exp(likely);
    }
    return fmin(sum, 1);
}

double compare_chance(uint64_t a, uint64_t of_a, uint64_t b, uint64_t of_b) {
    if (of_a == 0 || of_b == 0 || a > of_a || b > of_b)
        return 1;
    double n = (double)of_a, m = (double)of_b, step = fabs((double)a / n - (double)b / m);
    double both = ((double)a + (double)b) / (n + m);
    if (fmin(n, m) * fmin(both, 1 - both) < EXPECTED_MIN)
        return both > 0 && both < 1 ? exact_chance(a, of_a, b, of_b) : 1;
    double variance = both * (1 - both) * (1 / n + 1 / m);
    step -= (1 / n + 1 / m) / 2;
    if (step <= 0 || variance <= 0)
        return 1;
    return erfc(step / sqrt(2 * variance));
}

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

static int by_chance(const void *a, const void *b) {
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Marks rows: finds the largest k for which the k-th smallest chance is at most COMPARE_FALSE * k /
 * count, and marks all rows whose chance is not larger than that one. */
static int mark(struct compare_rows *r) {
    struct compare_row *const row = r->row;
    double *chance = malloc(((size_t)r->count + 1) * sizeof *chance), most = -1;
    if (!chance)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->count; i++)
        chance[i] = row[i].chance;
    if (r->count > 1)
        qsort(chance, r->count, sizeof *chance, by_chance);
    for (uint32_t k = r->count; k > 0 && most < 0; k--)
        if (chance[k - 1] <= COMPARE_FALSE * k / r->count)
            most = chance[k - 1];
    free(chance);
    for (uint32_t i = 0; i < r->count; i++) {
        row[i].changed = row[i].chance <= most;
        r->changed += row[i].changed;
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
        r.chance = compare_chance(r.samples[0], a->samples, r.samples[1], b->samples);
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
