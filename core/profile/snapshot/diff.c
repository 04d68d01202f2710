#include "core/profile/snapshot/diff.h"

#include "core/base/hash.h"
#include "core/profile/snapshot/chance.h"
#include "core/profile/table/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOT_THERE UINT32_MAX

/* What rows are compared with each other: each kind has its own limit of chance.h. */
enum kind { METHOD_SELF, METHOD_TOTAL, THREAD, NODE, KINDS };

/* For each row or node of `now`: the matching one in `before`, or NOT_THERE. */
struct diff {
    const struct snapshot *before, *now;
    uint32_t *method, *thread, *node;
    uint8_t *known; /* by method id: the method had a row before */
    uint32_t ids;   /* size of `known` */
    double limit[KINDS];
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

struct part {
    uint64_t weight, samples;
};

/* A row, before and now. */
struct pair {
    struct part before, now;
    bool is_old; /* there was such a row before */
};

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static struct part method_part(const struct snapshot_method *m, enum kind kind) {
    return kind == METHOD_SELF ? (struct part){m->self, m->self_samples}
                               : (struct part){m->total, m->total_samples};
}

/* `row` is its index in `now`. */
static struct pair pair_of(const struct diff *d, enum kind kind, uint32_t row) {
    const uint32_t *match = kind == THREAD ? d->thread : kind == NODE ? d->node : d->method;
    uint32_t old = match[row];
    struct pair p = {.is_old = old != NOT_THERE};
    switch (kind) {
    case THREAD:
        p.now = (struct part){d->now->threads[row].weight, d->now->threads[row].samples};
        if (p.is_old)
            p.before =
                (struct part){d->before->threads[old].weight, d->before->threads[old].samples};
        break;
    case NODE:
        p.now = (struct part){d->now->nodes[row].total, d->now->nodes[row].total_samples};
        if (p.is_old)
            p.before =
                (struct part){d->before->nodes[old].total, d->before->nodes[old].total_samples};
        break;
    default:
        p.now = method_part(&d->now->methods[row], kind);
        if (p.is_old)
            p.before = method_part(&d->before->methods[old], kind);
    }
    return p;
}

/* Finds each kind's limit. Rows with too few samples to be marked do not count. */
static int find_limits(struct diff *d) {
    const uint32_t count[KINDS] = {d->now->method_count, d->now->method_count, d->now->thread_count,
                                   d->node ? d->now->node_count : 0};
    uint32_t most = 1;
    for (int kind = 0; kind < KINDS; kind++)
        most = count[kind] > most ? count[kind] : most;
    double *chance = malloc(most * sizeof *chance);
    if (!chance)
        return -ENOMEM;
    for (int kind = 0; kind < KINDS; kind++) {
        uint32_t rows = 0;
        for (uint32_t i = 0; i < count[kind]; i++) {
            struct pair p = pair_of(d, (enum kind)kind, i);
            if (p.before.samples + p.now.samples >= CHANCE_SAMPLES)
                chance[rows++] =
                    chance_of(p.before.samples, d->before->samples, p.now.samples, d->now->samples);
        }
        d->limit[kind] = chance_limit(chance, rows);
    }
    free(chance);
    return 0;
}

/* If there was nothing before, every node is new. */
static bool same_kind(const struct snapshot *before, const struct snapshot *now) {
    return before->inverted == now->inverted && before->by_thread == now->by_thread &&
           before->by_tier == now->by_tier && before->by_site == now->by_site &&
           now->node_count > 0 && (before->node_count > 0 || before->samples == 0);
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
    if (rc == 0)
        rc = find_limits(d);
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

static struct diff_change change(const struct diff *d, enum kind kind, const struct pair *p) {
    return (struct diff_change){
        .percent = 100 * (share(p->now.weight, d->now->weight) -
                          share(p->before.weight, d->before->weight)),
        .chance = !d->uncounted && chance_of(p->before.samples, d->before->samples, p->now.samples,
                                             d->now->samples) > d->limit[kind],
        .is_new = !p->is_old,
    };
}

struct diff_change diff_method_self(const struct diff *d, uint32_t row) {
    struct pair p = pair_of(d, METHOD_SELF, row);
    return change(d, METHOD_SELF, &p);
}

struct diff_change diff_method_total(const struct diff *d, uint32_t row) {
    struct pair p = pair_of(d, METHOD_TOTAL, row);
    return change(d, METHOD_TOTAL, &p);
}

struct diff_change diff_thread(const struct diff *d, uint32_t row) {
    struct pair p = pair_of(d, THREAD, row);
    return change(d, THREAD, &p);
}

/* If the earlier tree left out light nodes, a node that is missing there is certainly new only if
 * its method is new. */
static bool is_new_node(const struct diff *d, const struct snapshot_node *n) {
    return d->before->least == 0 || n->method >= d->ids || !d->known[n->method];
}

struct diff_change diff_node(const struct diff *d, uint32_t node) {
    if (!d->node)
        return (struct diff_change){.chance = true};
    struct pair p = pair_of(d, NODE, node);
    struct diff_change c = change(d, NODE, &p);
    c.is_new = c.is_new && is_new_node(d, &d->now->nodes[node]);
    return c;
}
