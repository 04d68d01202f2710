#include "core/profile/snapshot/diff.h"

#include "core/base/hash.h"
#include "core/profile/table/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOT_THERE UINT32_MAX
#define Z_SQUARED (1.96 * 1.96) /* 95 of 100 random differences are within this limit */

/* For each row or node of `now`: the matching one in `before`, or NOT_THERE. */
struct diff {
    const struct snapshot *before, *now;
    uint32_t *method, *thread, *node;
    uint8_t *known; /* by method id: the method had a row before */
    uint32_t ids;   /* size of `known` */
    bool uncounted;
};

static uint32_t highest_method(const struct snapshot *s, uint32_t least) {
    for (uint32_t i = 0; i < s->method_count; i++)
        if (s->methods[i].method >= least)
            least = s->methods[i].method + 1;
    return least;
}

static int match_methods(struct diff *d) {
    d->ids = highest_method(d->now, highest_method(d->before, 0));
    uint32_t *row = malloc(((size_t)d->ids + 1) * sizeof *row);
    d->known = calloc((size_t)d->ids + 1, 1);
    if (!row || !d->known) {
        free(row);
        return -ENOMEM;
    }
    memset(row, 0xff, d->ids * sizeof *row);
    for (uint32_t i = 0; i < d->before->method_count; i++) {
        row[d->before->methods[i].method] = i;
        d->known[d->before->methods[i].method] = 1;
    }
    for (uint32_t i = 0; i < d->now->method_count; i++)
        d->method[i] = row[d->now->methods[i].method];
    free(row);
    return 0;
}

/* A virtual thread may change its carrier, and a tid may be reused by a thread with another
 * Java id. */
static bool same_thread(const struct snapshot_thread *a, const struct snapshot_thread *b) {
    return a->is_virtual == b->is_virtual && a->java_id == b->java_id &&
           (a->is_virtual || a->tid == b->tid);
}

static uint32_t hash_thread(struct index *x, const struct snapshot_thread *t) {
    return (uint32_t)hash_pair(index_seed(x), t->java_id, t->is_virtual ? 0 : t->tid);
}

static int match_threads(struct diff *d) {
    struct index x = {0};
    int rc = 0;
    for (uint32_t i = 0; i < d->before->thread_count && rc == 0; i++) {
        rc = index_reserve(&x);
        if (rc == 0)
            index_put(&x, hash_thread(&x, &d->before->threads[i]), i);
    }
    for (uint32_t i = 0; i < d->now->thread_count; i++) {
        const struct snapshot_thread *t = &d->now->threads[i];
        uint32_t hash = hash_thread(&x, t), pos = hash, id = INDEX_NONE;
        while (rc == 0 && (id = index_next(&x, hash, &pos)) != INDEX_NONE)
            if (same_thread(t, &d->before->threads[id]))
                break;
        d->thread[i] = id == INDEX_NONE ? NOT_THERE : id;
    }
    index_free(&x);
    return rc;
}

static uint32_t hash_node(struct index *x, const struct snapshot_node *n, uint32_t parent) {
    return (uint32_t)hash_pair(index_seed(x), parent, n->method);
}

/* If tiers are distinct, a method may have several nodes below one parent; the main tier then
 * identifies the node. */
static bool same_node(const struct snapshot *s, const struct snapshot_node *a,
                      const struct snapshot_node *b) {
    return a->method == b->method &&
           (!s->by_tier || snapshot_main_tier(a->tier) == snapshot_main_tier(b->tier));
}

/* Goes from the roots down, so a node's parent is always processed before the node. */
static int match_nodes(struct diff *d) {
    const struct snapshot *before = d->before, *now = d->now;
    struct index x = {0};
    int rc = 0;
    for (uint32_t i = 0; i < before->node_count && rc == 0; i++) {
        rc = index_reserve(&x);
        if (rc == 0)
            index_put(&x, hash_node(&x, &before->nodes[i], before->nodes[i].parent), i);
    }
    for (uint32_t i = 0; i < now->node_count; i++) {
        const struct snapshot_node *n = &now->nodes[i];
        uint32_t above = n->parent == SNAPSHOT_ROOT ? SNAPSHOT_ROOT : d->node[n->parent];
        uint32_t hash = hash_node(&x, n, above), pos = hash, id = INDEX_NONE;
        bool searched = rc == 0 && (n->parent == SNAPSHOT_ROOT || above != NOT_THERE);
        while (searched && (id = index_next(&x, hash, &pos)) != INDEX_NONE)
            if (before->nodes[id].parent == above && same_node(now, n, &before->nodes[id]))
                break;
        d->node[i] = id == INDEX_NONE ? NOT_THERE : id;
    }
    index_free(&x);
    return rc;
}

static bool same_kind(const struct snapshot *a, const struct snapshot *b) {
    return a->inverted == b->inverted && a->by_thread == b->by_thread && a->by_tier == b->by_tier &&
           a->node_count > 0 && b->node_count > 0;
}

struct diff *diff_new(const struct snapshot *before, const struct snapshot *now) {
    struct diff *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (struct diff){.before = before, .now = now};
    d->method = malloc(((size_t)now->method_count + 1) * sizeof *d->method);
    d->thread = malloc(((size_t)now->thread_count + 1) * sizeof *d->thread);
    int rc = d->method && d->thread ? match_methods(d) : -ENOMEM;
    if (rc == 0)
        rc = match_threads(d);
    if (rc == 0 && same_kind(before, now)) {
        d->node = malloc(((size_t)now->node_count + 1) * sizeof *d->node);
        rc = d->node ? match_nodes(d) : -ENOMEM;
    }
    if (rc != 0) {
        diff_free(d);
        return NULL;
    }
    return d;
}

void diff_free(struct diff *d) {
    if (!d)
        return;
    free(d->method);
    free(d->thread);
    free(d->node);
    free(d->known);
    free(d);
}

void diff_without_counts(struct diff *d) {
    d->uncounted = true;
}

struct part {
    uint64_t weight, samples;
};

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

/* Compares two proportions of independent samples, using the normal distribution. Both sides are
 * squared, to avoid a square root. */
static bool is_chance(uint64_t before, uint64_t of_before, uint64_t now, uint64_t of_now) {
    if (of_before == 0 || of_now == 0)
        return true;
    double n = (double)of_before, m = (double)of_now,
           step = share(now, of_now) - (double)before / n;
    double both = ((double)before + (double)now) / (n + m);
    double variance = both * (1 - both) * (1 / n + 1 / m);
    return step == 0 || step * step < Z_SQUARED * variance;
}

static struct diff_change change(const struct diff *d, struct part before, struct part now) {
    return (struct diff_change){
        .percent =
            100 * (share(now.weight, d->now->weight) - share(before.weight, d->before->weight)),
        .chance = !d->uncounted &&
                  is_chance(before.samples, d->before->samples, now.samples, d->now->samples),
    };
}

struct diff_change diff_method_self(const struct diff *d, uint32_t row) {
    const struct snapshot_method *n = &d->now->methods[row], *b = NULL;
    if (d->method[row] != NOT_THERE)
        b = &d->before->methods[d->method[row]];
    struct part before = {b ? b->self : 0, b ? b->self_samples : 0};
    struct diff_change c = change(d, before, (struct part){n->self, n->self_samples});
    c.is_new = !b;
    return c;
}

struct diff_change diff_method_total(const struct diff *d, uint32_t row) {
    const struct snapshot_method *n = &d->now->methods[row], *b = NULL;
    if (d->method[row] != NOT_THERE)
        b = &d->before->methods[d->method[row]];
    struct part before = {b ? b->total : 0, b ? b->total_samples : 0};
    struct diff_change c = change(d, before, (struct part){n->total, n->total_samples});
    c.is_new = !b;
    return c;
}

struct diff_change diff_thread(const struct diff *d, uint32_t row) {
    const struct snapshot_thread *n = &d->now->threads[row], *b = NULL;
    if (d->thread[row] != NOT_THERE)
        b = &d->before->threads[d->thread[row]];
    struct part before = {b ? b->weight : 0, b ? b->samples : 0};
    struct diff_change c = change(d, before, (struct part){n->weight, n->samples});
    c.is_new = !b;
    return c;
}

/* If the earlier tree left out light nodes, a node that is missing there is certainly new only if
 * its method is new. */
static bool is_new_node(const struct diff *d, const struct snapshot_node *n) {
    return d->before->least == 0 || n->method >= d->ids || !d->known[n->method];
}

struct diff_change diff_node(const struct diff *d, uint32_t node) {
    if (!d->node)
        return (struct diff_change){.chance = true};
    const struct snapshot_node *n = &d->now->nodes[node], *b = NULL;
    if (d->node[node] != NOT_THERE)
        b = &d->before->nodes[d->node[node]];
    struct part before = {b ? b->total : 0, b ? b->total_samples : 0};
    struct diff_change c = change(d, before, (struct part){n->total, n->total_samples});
    c.is_new = !b && is_new_node(d, n);
    return c;
}
