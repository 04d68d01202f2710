#include "core/profile/snapshot/standing.h"

#include "core/base/grow.h"
#include "core/profile/profile_state.h"
#include "core/profile/table/big.h"

#include <errno.h>

/* At most this many changes are on the list. */
#define CHANGES_MAX 32768u
/* With more changes than this, one pass over all nodes is faster than one stack after the other. */
#define CHANGES_FEW 4096u
/* After this many full lists without a query, the sums are no longer kept. */
#define UNREAD_MAX 8u

void standing_forget(struct profile *p, uint32_t event) {
    for (int i = 0; i < STANDING; i++)
        if (p->standing[i].event == event)
            p->standing[i].valid = false;
}

void standing_forget_windows(struct profile *p) {
    for (int i = 0; i < STANDING; i++)
        if (p->standing[i].from)
            p->standing[i].valid = false;
}

void standing_free(struct standing *s) {
    free(s->row);
    free(s->self);
    free(s->root);
    free(s->total);
    free(s->path_total);
    free(s->change);
    free(s->thread);
    tally_free(&s->by_leaf);
    tally_free(&s->by_method);
    *s = (struct standing){0};
}

/* Makes room for what is new since the last call; new elements are zero. */
static int make_room(struct standing *s, const struct profile *p) {
    uint32_t methods = method_table_count(p->methods), threads = p->threads.count;
    if (!big_grow_zeroed(&s->row, &s->row_cap, &s->rows, methods, sizeof *s->row) ||
        !big_grow_zeroed(&s->self, &s->self_cap, &s->selfs, methods, sizeof *s->self) ||
        (s->has_roots &&
         !big_grow_zeroed(&s->root, &s->root_cap, &s->roots, methods, sizeof *s->root)) ||
        (s->from &&
         !big_grow_zeroed(&s->thread, &s->thread_cap, &s->threads, threads, sizeof *s->thread)))
        return -ENOMEM;
    if (s->has_tree &&
        (!big_grow_zeroed(&s->total, &s->total_cap, &s->nodes, p->tree.nodes, sizeof *s->total) ||
         !big_grow_zeroed(&s->path_total, &s->path_cap, &s->paths, p->tree.paths,
                          sizeof *s->path_total)))
        return -ENOMEM;
    return 0;
}

static int add_to_tally(struct tally *t, uint32_t what, uint32_t owner,
                        const struct standing_change *c) {
    struct tally_entry *e = tally_entry(t, what, owner, UINT32_MAX);
    if (!e)
        return -ENOMEM;
    e->weight += c->weight;
    e->count += c->count;
    return 0;
}

static inline void add_to_root(struct standing *s, const struct call_node *leaf, uint64_t weight,
                               uint64_t count) {
    struct standing_root *r = &s->root[leaf->method];
    r->tier[leaf->tier] += count;
    r->ended += leaf->parent == CALL_ROOT ? weight : 0;
    r->ended_samples += leaf->parent == CALL_ROOT ? count : 0;
}

/* Adds to what only leaves have. */
static int add_to_leaf(struct standing *s, const struct call_tree *t,
                       const struct standing_change *c) {
    uint32_t method = t->node[c->node].method;
    s->self[method].weight += c->weight;
    s->self[method].count += c->count;
    if (s->has_roots)
        add_to_root(s, &t->node[c->node], c->weight, c->count);
    if (!s->from)
        return 0;
    struct standing_thread *thread = &s->thread[c->thread];
    thread->weight += c->weight;
    thread->count += c->count;
    thread->state[c->state] += c->weight;
    s->weight += c->weight;
    s->samples += c->count;
    s->failed += c->failed ? c->count : 0;
    int rc = add_to_tally(&s->by_method, method, owner_of(c->thread, s->event), c);
    if (rc != 0 || !s->has_leaves)
        return rc;
    return add_to_tally(&s->by_leaf, c->node, owner_of(0, s->event), c);
}

static inline void add_to_row(struct standing *s, const struct call_node *n, uint64_t weight,
                              uint64_t count) {
    /* If a method occurs again further down its own stack, it counts where it is nearest to
     * the root. */
    if (n->recursive)
        return;
    s->row[n->method].total += weight;
    s->row[n->method].tier[n->tier] += count;
}

static void climb(struct standing *s, const struct call_tree *t, const struct standing_change *c) {
    for (uint32_t at = c->node; at != CALL_ROOT; at = t->node[at].parent) {
        const struct call_node *n = &t->node[at];
        add_to_row(s, n, c->weight, c->count);
        if (!s->has_tree)
            continue;
        s->total[at].weight += c->weight;
        s->total[at].count += c->count;
        s->path_total[n->path] += c->weight;
    }
}

/* `total` is by node: first at leaves what belongs to them, afterwards their parents'
 * totals, too. */
static void sum_up(struct standing *s, const struct call_tree *t, struct total *total) {
    for (uint32_t i = t->nodes; i-- > 0;) {
        const struct call_node *n = &t->node[i];
        if (!(total[i].weight | total[i].count))
            continue;
        add_to_row(s, n, total[i].weight, total[i].count);
        if (s->has_tree)
            s->path_total[n->path] += total[i].weight;
        if (n->parent != CALL_ROOT) {
            total[n->parent].weight += total[i].weight;
            total[n->parent].count += total[i].count;
        }
    }
}

static struct total *new_totals(const struct call_tree *t) {
    struct total *total = big_alloc((size_t)t->nodes + 1, sizeof *total);
    if (total)
        memset(total, 0, t->nodes * sizeof *total);
    return total;
}

static int climb_together(struct standing *s, const struct call_tree *t) {
    struct total *more = new_totals(t);
    if (!more)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->changes; i++) {
        more[s->change[i].node].weight += s->change[i].weight;
        more[s->change[i].node].count += s->change[i].count;
    }
    sum_up(s, t, more);
    for (uint32_t i = 0; s->has_tree && i < t->nodes; i++) {
        s->total[i].weight += more[i].weight;
        s->total[i].count += more[i].count;
    }
    free(more);
    return 0;
}

static int add_changes(struct standing *s, const struct profile *p) {
    int rc = make_room(s, p);
    for (uint32_t i = 0; rc == 0 && i < s->changes; i++)
        rc = add_to_leaf(s, &p->tree, &s->change[i]);
    if (rc == 0 && s->changes > CHANGES_FEW)
        rc = climb_together(s, &p->tree);
    else
        for (uint32_t i = 0; rc == 0 && i < s->changes; i++)
            climb(s, &p->tree, &s->change[i]);
    s->changes = 0;
    s->valid = rc == 0;
    return rc;
}

/* False: the sums are no longer valid, and perhaps freed. */
static bool note(struct standing *s, const struct profile *p, const struct standing_change *c) {
    if (s->changes == CHANGES_MAX && (++s->unread > UNREAD_MAX || add_changes(s, p) != 0)) {
        standing_free(s);
        return false;
    }
    s->valid = GROW(s->change, s->changes, s->change_cap);
    if (s->valid)
        s->change[s->changes++] = *c;
    return s->valid;
}

void standing_count(struct profile *p, const struct standing_change *c) {
    for (int i = 0; i < STANDING; i++) {
        struct standing *s = &p->standing[i];
        if (s->valid && !s->from && s->event == c->event)
            (void)note(s, p, c);
    }
}

void standing_count_second(struct profile *p, const struct standing_change *c, uint64_t second) {
    for (int i = 0; i < STANDING; i++) {
        struct standing *s = &p->standing[i];
        if (s->valid && s->from && s->from <= second && s->event == c->event)
            (void)note(s, p, c);
    }
}

static struct standing_change change_of(const struct history_entry *e, bool back) {
    return (struct standing_change){.weight = back ? -e->weight : e->weight,
                                    .count = back ? -(uint64_t)e->count : e->count,
                                    .node = e->node,
                                    .thread = owner_thread(e->owner),
                                    .event = (uint8_t)owner_event(e->owner),
                                    .state = e->state,
                                    .failed = e->failed};
}

/* Subtracts a second from a window. */
static void leave_second(struct standing *s, const struct profile *p,
                         const struct history_second *second) {
    struct history_cursor c;
    history_start(&c, second);
    while (s->valid && history_next(&c)) {
        for (uint32_t i = 0; s->valid && i < c.count; i++) {
            struct standing_change change = change_of(&c.entry[i], true);
            if (change.event == s->event)
                (void)note(s, p, &change);
        }
    }
    if (s->valid)
        s->from = second->second < UINT64_MAX ? second->second + 1 : UINT64_MAX;
}

void standing_drop(void *profile, const struct history_second *second) {
    struct profile *p = profile;
    for (int i = 0; i < STANDING; i++) {
        struct standing *s = &p->standing[i];
        if (s->valid && s->from && s->from <= second->second)
            leave_second(s, p, second);
    }
}

/* Adds what the window has, except for the nodes above leaves, to the sums and to `total`. */
static int add_window(struct standing *s, const struct profile *p, struct total *total) {
    const struct history *h = &p->history;
    struct history_cursor c;
    int rc = 0;
    for (uint32_t i = history_find(h, s->from); i < h->end && rc == 0; i++) {
        history_start(&c, &h->second[i]);
        while (rc == 0 && history_next(&c)) {
            for (uint32_t k = 0; rc == 0 && k < c.count; k++) {
                struct standing_change change = change_of(&c.entry[k], false);
                if (change.event != s->event)
                    continue;
                total[change.node].weight += change.weight;
                total[change.node].count += change.count;
                rc = add_to_leaf(s, &p->tree, &change);
            }
        }
    }
    return rc;
}

static void add_everything(struct standing *s, const struct profile *p, struct total *total) {
    for (uint32_t i = 0; i < p->by_node.count; i++) {
        const struct tally_entry *e = &p->by_node.entry[i];
        if (owner_event(e->owner) != (int)s->event)
            continue;
        struct total *self = &s->self[p->tree.node[e->what].method];
        total[e->what].weight += e->weight;
        total[e->what].count += e->count;
        self->weight += e->weight;
        self->count += e->count;
    }
}

static void drop_tree(struct standing *s) {
    free(s->total);
    free(s->path_total);
    s->total = NULL;
    s->path_total = NULL;
    s->total_cap = s->path_cap = 0;
}

/* Sums up everything again. */
static int build(struct standing *s, struct profile *p, uint32_t event, uint64_t from,
                 unsigned needs) {
    bool tree = needs & STANDING_TREE;
    s->event = event;
    s->from = from;
    s->rows = s->selfs = s->nodes = s->paths = s->threads = s->changes = 0;
    s->weight = s->samples = s->failed = 0;
    s->has_tree = tree;
    s->has_leaves = needs & STANDING_LEAVES && from;
    s->has_roots = false;
    if (!tree)
        drop_tree(s);
    tally_free(&s->by_leaf);
    tally_free(&s->by_method);
    struct total *own = tree ? NULL : new_totals(&p->tree);
    int rc = tree || own ? make_room(s, p) : -ENOMEM;
    struct total *total = own ? own : s->total;
    if (rc == 0 && from)
        rc = add_window(s, p, total);
    else if (rc == 0)
        add_everything(s, p, total);
    if (rc == 0)
        sum_up(s, &p->tree, total);
    free(own);
    return rc;
}

/* Sums up what the roots of the bottom-up tree have. */
static int build_roots(struct standing *s, struct profile *p) {
    const struct tally *t = s->from ? &s->by_leaf : &p->by_node;
    s->has_roots = true;
    s->roots = 0;
    int rc = make_room(s, p);
    for (uint32_t i = 0; rc == 0 && i < t->count; i++)
        if (owner_event(t->entry[i].owner) == (int)s->event)
            add_to_root(s, &p->tree.node[t->entry[i].what], t->entry[i].weight, t->entry[i].count);
    return rc;
}

/* The number of entries of the history in a span of seconds. */
static uint64_t entries(const struct history *h, uint64_t from, uint64_t to) {
    uint64_t sum = 0;
    for (uint32_t i = history_find(h, from); i < h->end && h->second[i].second <= to; i++)
        sum += h->second[i].count;
    return sum;
}

/* Whether subtracting what the window has left is less work than summing it up again (and not more
 * than note() takes before it gives up), and the tables of leaves are not mostly of what has left. */
static bool follows(const struct standing *s, const struct profile *p, uint64_t from) {
    const struct history *h = &p->history;
    uint64_t left = from > s->from ? entries(h, s->from, from - 1) : 0;
    uint64_t rest = entries(h, from, UINT64_MAX), most = 2 * rest + CHANGES_MAX;
    return left <= rest && left <= (uint64_t)(UNREAD_MAX - 1) * CHANGES_MAX &&
           s->by_method.count <= most && s->by_leaf.count <= most;
}

static bool has(const struct standing *s, unsigned needs) {
    return (s->has_tree || !(needs & STANDING_TREE)) &&
           (s->has_leaves || !(needs & STANDING_LEAVES) || !s->from);
}

/* Returns the one to be built again: one that has nothing, or the one that was not queried for
 * longest. If there are enough trees, another tree replaces one of them. */
static struct standing *replace(struct profile *p, bool tree) {
    struct standing *oldest = NULL;
    int trees = 0;
    for (int i = 0; i < STANDING; i++)
        trees += p->standing[i].valid && p->standing[i].has_tree;
    for (int i = 0; i < STANDING; i++) {
        struct standing *s = &p->standing[i];
        if (tree && trees >= STANDING_TREES && !(s->valid && s->has_tree))
            continue;
        if (!oldest || (oldest->valid && (!s->valid || s->asked < oldest->asked)))
            oldest = s;
    }
    return oldest;
}

/* Returns the sums that can answer, with *keep; otherwise those to be built. */
static struct standing *choose(struct profile *p, uint32_t event, uint64_t from, unsigned needs,
                               bool *keep) {
    for (int i = 0; i < STANDING; i++) {
        struct standing *s = &p->standing[i];
        *keep = s->valid && s->event == event && (s->from != 0) == (from != 0) && from >= s->from &&
                has(s, needs) && (!from || follows(s, p, from));
        if (*keep)
            return s;
    }
    return replace(p, needs & STANDING_TREE);
}

static void leave_seconds(struct standing *s, const struct profile *p, uint64_t from) {
    const struct history *h = &p->history;
    for (uint32_t i = history_find(h, s->from);
         s->valid && i < h->end && h->second[i].second < from; i++)
        leave_second(s, p, &h->second[i]);
    if (s->valid)
        s->from = from;
}

struct standing *standing_get(struct profile *p, uint32_t event, uint64_t from, unsigned needs) {
    bool keep;
    from = from && from < p->history.gone ? p->history.gone : from;
    struct standing *s = choose(p, event, from, needs, &keep);
    s->unread = 0;
    if (keep && from)
        leave_seconds(s, p, from);
    int rc = keep && s->valid ? add_changes(s, p) : build(s, p, event, from, needs);
    if (rc == 0 && needs & STANDING_ROOTS && !s->has_roots)
        rc = build_roots(s, p);
    s->asked = ++p->asked;
    s->unread = 0;
    s->valid = rc == 0;
    return rc == 0 ? s : NULL;
}
