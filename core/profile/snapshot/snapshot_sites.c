#include "core/profile/snapshot/snapshot_build.h"

#include "core/profile/table/index.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Turns the inverted tree into sites, in place: what is between a root and its first frame outside
 * the JDK is left out, and then siblings of one method become one branch. The site of a stack without
 * such a frame is its first frame of the JDK, and its callers are left out.
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
    uint32_t to;    /* the new branch that has its weight: its own, or the root's */
    uint32_t inner; /* on the way from the root: the first method of the JDK; METHOD_NONE: none */
    bool reached;   /* it is a site, or above one */
};

struct sites {
    struct build *b;
    struct place *place;  /* by branch */
    struct index index;   /* of the new branches, by parent and method */
    uint64_t *via_weight; /* by new branch: votes for its way, which is in b->via */
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

static bool is_java(const struct sites *s, uint32_t method, bool jdk) {
    const struct method *m = method_table_get(s->b->p->methods, method);
    return m->kind == METHOD_JAVA && method_is_jdk(m) == jdk;
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

/* Keeps the method of the JDK by which more than half of a site's weight gets there, if there is one
 * (Boyer and Moore's majority vote). */
static void add_way(struct sites *s, uint32_t site, uint32_t method, uint64_t weight) {
    if (!is_java(s, method, true))
        return;
    if (s->b->via[site] == method) {
        s->via_weight[site] += weight;
    } else if (s->via_weight[site] >= weight) {
        s->via_weight[site] -= weight;
    } else {
        s->b->via[site] = method;
        s->via_weight[site] = weight - s->via_weight[site];
    }
}

/* Adds stacks that end before a frame outside the JDK. Without any Java frame they stay with the
 * root. */
static int add_ended(struct sites *s, uint32_t root, uint32_t inner,
                     const struct snapshot_node *from) {
    struct snapshot_node ended = {.self = from->self,
                                  .self_samples = from->self_samples,
                                  .total = from->self,
                                  .total_samples = from->self_samples,
                                  .tier = {[TIER_NONE] = from->self_samples}};
    if (!(ended.self | ended.self_samples))
        return 0;
    if (inner == METHOD_NONE) {
        add_weight(s, root, &ended, false);
        return 0;
    }
    uint32_t site = find_or_add(s, root, inner);
    if (site == SNAPSHOT_ROOT)
        return -ENOMEM;
    add_weight(s, site, &ended, true);
    return 0;
}

/* Parents come first, so the branch's parent has its place. New branches have smaller indexes than
 * what is still to be read: each branch becomes at most one of its own. */
static int move(struct sites *s, uint32_t i) {
    struct place *p = &s->place[i];
    const uint32_t parent = s->b->branch[i].parent;
    const struct snapshot_node from = s->b->built[i];
    const struct place *below = parent == SNAPSHOT_ROOT ? NULL : &s->place[parent];
    p->method = s->b->branch[i].method;
    p->inner = below ? below->inner : METHOD_NONE;
    if (below && p->inner == METHOD_NONE && is_java(s, p->method, true))
        p->inner = p->method;
    p->reached = below && (below->reached || is_java(s, p->method, false));
    if (below && !p->reached) {
        p->to = below->to;
        return add_ended(s, p->to, p->inner, &from);
    }
    p->to = find_or_add(s, below ? below->to : SNAPSHOT_ROOT, p->method);
    if (p->to == SNAPSHOT_ROOT)
        return -ENOMEM;
    add_weight(s, p->to, &from, true);
    if (below && p->reached && !below->reached)
        add_way(s, p->to, below->method, from.total);
    return 0;
}

int build_sites(struct build *b) {
    const size_t room = (size_t)b->branches + 1;
    struct sites s = {.b = b,
                      .place = calloc(room, sizeof *s.place),
                      .via_weight = calloc(room, sizeof *s.via_weight)};
    b->via = malloc(room * sizeof *b->via);
    int rc = s.place && s.via_weight && b->via ? 0 : -ENOMEM;
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
