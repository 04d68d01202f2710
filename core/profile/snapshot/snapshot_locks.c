#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A row before it has its final position. */
struct lock_line {
    struct snapshot_lock lock;
    uint64_t class_ns; /* waited_ns of its class */
    uint32_t rank;     /* rank of the class's name */
};

static int by_tid(const struct snapshot_lock *x, const struct snapshot_lock *y) {
    if (x->owner_tid != y->owner_tid)
        return x->owner_tid < y->owner_tid ? -1 : 1;
    if (x->owner_java_id != y->owner_java_id)
        return x->owner_java_id < y->owner_java_id ? -1 : 1;
    if (x->owner_node != y->owner_node)
        return x->owner_node < y->owner_node ? -1 : 1;
    return x->flags < y->flags ? -1 : x->flags > y->flags;
}

static int by_wait(const void *a, const void *b) {
    const struct lock_line *x = a, *y = b;
    if (x->class_ns != y->class_ns)
        return x->class_ns > y->class_ns ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->lock.is_class != y->lock.is_class)
        return x->lock.is_class ? -1 : 1;
    if (x->lock.waited_ns != y->lock.waited_ns)
        return x->lock.waited_ns > y->lock.waited_ns ? -1 : 1;
    return by_tid(&x->lock, &y->lock);
}

static void start_class(const struct build *b, const struct lock_class *c, struct lock_line *out) {
    *out = (struct lock_line){.lock = {.class_id = c->method,
                                       .is_class = true,
                                       .locks = c->locks.count,
                                       .waiters = c->waiters.count,
                                       .owner = "",
                                       .owner_node = CALL_ROOT,
                                       .owner_method = METHOD_NONE,
                                       .owner_id = LOCK_OWNER_NONE},
                              .rank = b->p->rank[c->method]};
}

static void name_owner(const struct build *b, uint32_t owner, struct snapshot_lock *out) {
    if (owner == LOCK_OWNER_NONE)
        return;
    const struct thread *t = &b->p->threads.thread[owner];
    out->owner_tid = t->tid;
    out->owner_java_id = t->java_id;
    out->owner = t->is_virtual ? t->virtual_name : t->name;
    out->owner_is_virtual = t->is_virtual;
}

static void write_row(const struct build *b, const struct lock_row *r, struct lock_line *class,
                      struct lock_line *out) {
    *out = (struct lock_line){.lock = {.class_id = class->lock.class_id,
                                       .flags = r->flags,
                                       .waits = r->waits,
                                       .waited_ns = r->waited_ns,
                                       .longest_ns = r->longest_ns,
                                       .owner = "",
                                       .owner_node = r->node,
                                       .owner_method = METHOD_NONE,
                                       .owner_id = r->owner},
                              .rank = class->rank};
    name_owner(b, r->owner, &out->lock);
    if (r->node != CALL_ROOT)
        out->lock.owner_method = b->p->locks.owners.node[r->node].method;
    class->lock.flags |= r->flags;
    class->lock.waits += r->waits;
    class->lock.waited_ns += r->waited_ns;
    if (r->longest_ns > class->lock.longest_ns)
        class->lock.longest_ns = r->longest_ns;
}

/* Writes the lines of the classes, then those of the rows. Returns their number. */
static uint32_t write_lines(const struct build *b, const struct lock_table *t,
                            struct lock_line *line) {
    for (uint32_t i = 0; i < t->classes; i++)
        start_class(b, &t->class[i], &line[i]);
    for (uint32_t i = 0; i < t->rows; i++)
        write_row(b, &t->row[i], &line[t->row[i].class], &line[t->classes + i]);
    for (uint32_t i = 0; i < t->rows; i++)
        line[t->classes + i].class_ns = line[t->row[i].class].lock.waited_ns;
    for (uint32_t i = 0; i < t->classes; i++)
        line[i].class_ns = line[i].lock.waited_ns;
    return t->classes + t->rows;
}

static int by_link(const void *a, const void *b) {
    const struct snapshot_lock_link *x = a, *y = b;
    if (x->class_id != y->class_id)
        return x->class_id < y->class_id ? -1 : 1;
    if (x->owner_id != y->owner_id)
        return x->owner_id < y->owner_id ? -1 : 1;
    bool steps = x->next_class != METHOD_NONE;
    if (steps != (y->next_class != METHOD_NONE))
        return steps ? -1 : 1;
    if (x->waited_ns != y->waited_ns)
        return x->waited_ns > y->waited_ns ? -1 : 1;
    if (x->next_class != y->next_class)
        return x->next_class < y->next_class ? -1 : 1;
    return x->other_id < y->other_id ? -1 : x->other_id > y->other_id;
}

static int write_links(struct build *b, const struct lock_table *t) {
    b->s->lock_links = malloc((t->links + (size_t)1) * sizeof *b->s->lock_links);
    if (!b->s->lock_links)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->links; i++) {
        const struct lock_link *l = &t->link[i];
        struct snapshot_lock_link *out = &b->s->lock_links[i];
        *out = (struct snapshot_lock_link){.class_id = t->class[l->class].method,
                                           .owner_id = l->owner,
                                           .next_class = l->next_class == LOCK_CLASS_NONE
                                                             ? METHOD_NONE
                                                             : t->class[l->next_class].method,
                                           .other_id = l->other,
                                           .other = "",
                                           .waits = l->waits,
                                           .waited_ns = l->waited_ns,
                                           .deadlock_ns = l->deadlock_ns};
        if (l->other == LOCK_OWNER_NONE)
            continue;
        const struct thread *other = &b->p->threads.thread[l->other];
        out->other_tid = other->tid;
        out->other_java_id = other->java_id;
        out->other_is_virtual = other->is_virtual;
        out->other = other->is_virtual ? other->virtual_name : other->name;
    }
    b->s->lock_link_count = t->links;
    qsort(b->s->lock_links, t->links, sizeof *b->s->lock_links, by_link);
    return 0;
}

static int write_table(struct build *b, const struct lock_table *t) {
    size_t most = (size_t)t->classes + t->rows;
    struct lock_line *line = malloc((most + 1) * sizeof *line);
    b->s->locks = malloc((most + 1) * sizeof *b->s->locks);
    int rc = line && b->s->locks ? order_update(b->p) : -ENOMEM;
    if (rc == 0) {
        uint32_t lines = write_lines(b, t, line);
        qsort(line, lines, sizeof *line, by_wait);
        for (uint32_t i = 0; i < lines; i++)
            if (line[i].lock.waits)
                b->s->locks[b->s->lock_count++] = line[i].lock;
    }
    free(line);
    return rc == 0 ? write_links(b, t) : rc;
}

/* Whether the query keeps a thread with this stack. If the stack is not known, no filter keeps it. */
static bool keeps_stack(const struct build *b, uint32_t thread, const struct filter *filter,
                        uint32_t node) {
    return thread != LOCK_OWNER_NONE && build_asks_for(b->q, &b->p->threads.thread[thread]) &&
           (!filter || (node != CALL_ROOT && filter_keeps(filter, node)));
}

static bool has_text(const struct filter *filter, uint32_t node) {
    return node != CALL_ROOT && filter->flags[node] & FILTER_TEXT;
}

/* Whether the query keeps a wait: of a thread that it keeps, or for one. `holders`: the filter for
 * the owners' tree. */
static bool keeps(const struct build *b, const struct filter *holders, const struct lock_entry *e) {
    uint32_t waiter = build_by_carrier(b->q) ? e->carrier : e->waiter;
    bool inverted = b->filter && b->q->filter && b->q->filter[0] == '!';
    if (e->second < b->q->from_second || e->second > build_last_second(b->q) ||
        e->second < b->p->lock_history.gone)
        return false;
    if (inverted && (has_text(b->filter, e->stack) || has_text(holders, e->node)))
        return false;
    return keeps_stack(b, waiter, b->filter, e->stack) ||
           keeps_stack(b, e->owner, holders, e->node);
}

static int build_from_history(struct build *b) {
    const struct lock_history *h = &b->p->lock_history;
    const struct filter *holders;
    struct lock_table t = {0};
    int rc = filter_nodes(&b->p->owner_filter, b->p, &b->p->locks.owners, b->q, &holders);
    if (rc == 0)
        rc = lock_table_begin(&t, &b->p->locks);
    for (uint32_t i = h->first; rc == 0 && i < h->end; i++)
        if (keeps(b, holders, &h->entry[i]))
            rc = lock_table_count(&t, b->p, &h->entry[i]);
    if (h->gone > b->q->from_second)
        b->s->locks_from = h->gone;
    if (rc == 0)
        rc = write_table(b, &t);
    lock_table_free(&t);
    return rc;
}

int build_locks(struct build *b) {
    const struct query *q = b->q;
    int rc = filter_of_tree(b->p, q, &b->filter);
    bool always =
        q->from_second == 0 && (build_always(q) || q->to_second >= b->p->lock_history.newest);
    bool all = always && !b->filter && q->tid == QUERY_ALL_THREADS && q->virtual_id == 0;
    if (rc != 0)
        return rc;
    return all ? write_table(b, &b->p->locks) : build_from_history(b);
}

uint32_t snapshot_owner_stack(const struct profile *p, uint32_t owner_node, uint32_t *method,
                              uint32_t max) {
    const struct call_tree *t = &p->locks.owners;
    uint32_t n = 0;
    for (uint32_t at = owner_node; at < t->nodes && n < max; at = t->node[at].parent)
        method[n++] = t->node[at].method;
    return n;
}
