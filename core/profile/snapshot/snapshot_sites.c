#include "core/profile/snapshot/snapshot_build.h"

#include "core/profile/table/index.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Turns the inverted tree into sites, in place: what is between a root and its first frame outside
 * the JDK is left out, and then siblings of one method become one branch.
 *
 *      byte[]                         byte[]
 *        Arrays.copyOf                  shop.Cart.render   via StringBuilder.toString
 *          StringBuilder.toString         shop.Worker.run
 *            shop.Cart.render
 *              shop.Worker.run
 */

/* A branch of the inverted tree. */
struct place {
    uint32_t method;
    uint32_t to;      /* the new branch that has its weight: its own, or the root's */
    bool has_callers; /* there are branches below it */
    bool reached;     /* it is a site, or above one */
};

struct sites {
    struct build *b;
    struct place *place;  /* by branch */
    struct index index;   /* of the new branches, by parent and method */
    uint64_t *via_weight; /* by new branch: weight of the heaviest way, which is in b->via */
    uint32_t count;       /* of new branches; never more than branches that were read */
};

static uint32_t find_or_add(struct sites *s, uint32_t parent, uint32_t method) {
    struct build *b = s->b;
    uint32_t hash = (uint32_t)hash_pair(index_seed(&s->index), parent, method), pos = hash, id;
    while ((id = index_next(&s->index, hash, &pos)) != INDEX_NONE)
        if (b->branch[id].parent == parent && b->branch[id].method == method)
            return id;
    if (index_reserve(&s->index) != 0)
        return SNAPSHOT_ROOT;
    id = s->count++;
    index_put(&s->index, hash, id);
    b->branch[id] = (struct branch){.parent = parent,
                                    .method = method,
                                    .first = SNAPSHOT_ROOT,
                                    .next = SNAPSHOT_ROOT,
                                    .pos = CALL_ROOT};
    b->built[id] = (struct snapshot_node){0};
    b->via[id] = METHOD_NONE;
    return id;
}

/* Where no frame is outside the JDK, the last one is the site. */
static bool is_site(const struct sites *s, const struct place *p) {
    const struct method *m = method_table_get(s->b->p->methods, p->method);
    return !p->has_callers || (m->kind == METHOD_JAVA && !method_is_jdk(m));
}

static void add_weight(struct sites *s, uint32_t to, const struct snapshot_node *from, bool whole) {
    struct snapshot_node *n = &s->b->built[to];
    n->self += from->self;
    n->self_samples += from->self_samples;
    if (!whole)
        return;
    n->total += from->total;
    n->total_samples += from->total_samples;
    for (int t = 0; t < TIERS; t++)
        n->tier[t] += from->tier[t];
    s->b->branch[to].total = n->total;
}

/* Keeps the heaviest method of the JDK by which a site gets there. */
static void add_way(struct sites *s, uint32_t site, uint32_t method, uint64_t weight) {
    const struct method *m = method_table_get(s->b->p->methods, method);
    if (m->kind != METHOD_JAVA || !method_is_jdk(m) || weight <= s->via_weight[site])
        return;
    s->b->via[site] = method;
    s->via_weight[site] = weight;
}

/* Parents come first, so the branch's parent has its place. New branches have smaller indexes than
 * what is still to be read. */
static int move(struct sites *s, uint32_t i) {
    const uint32_t parent = s->b->branch[i].parent;
    const struct snapshot_node from = s->b->built[i];
    struct place p = s->place[i], below = {.to = SNAPSHOT_ROOT};
    if (parent != SNAPSHOT_ROOT) {
        below = s->place[parent];
        p.reached = below.reached || is_site(s, &p);
    }
    const bool shown = parent == SNAPSHOT_ROOT || p.reached;
    p.to = shown ? find_or_add(s, below.to, p.method) : below.to;
    if (p.to == SNAPSHOT_ROOT)
        return -ENOMEM;
    add_weight(s, p.to, &from, shown);
    if (p.reached && !below.reached)
        add_way(s, p.to, below.method, from.total);
    s->place[i] = p;
    return 0;
}

int build_sites(struct build *b) {
    const size_t room = (size_t)b->branches + 1;
    struct sites s = {.b = b,
                      .place = calloc(room, sizeof *s.place),
                      .via_weight = calloc(room, sizeof *s.via_weight)};
    b->via = malloc(room * sizeof *b->via);
    int rc = s.place && s.via_weight && b->via ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < b->branches && rc == 0; i++) {
        s.place[i].method = b->branch[i].method;
        if (b->branch[i].parent != SNAPSHOT_ROOT)
            s.place[b->branch[i].parent].has_callers = true;
    }
    for (uint32_t i = 0; i < b->branches && rc == 0; i++)
        rc = move(&s, i);
    b->branches = s.count;
    index_free(&s.index);
    free(s.place);
    free(s.via_weight);
    return rc;
}

int build_ways(struct build *b) {
    b->s->via = malloc(((size_t)b->branches + 1) * sizeof *b->s->via);
    if (!b->s->via)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->branches; i++)
        b->s->via[b->branch[i].pos] = b->via[i];
    return 0;
}
