#include "core/profile/table/lock_table.h"

#include "core/base/grow.h"
#include "core/profile/fold.h"
#include "core/profile/profile_state.h"
#include "core/profile/table/virtual_threads.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t hash_row(struct lock_table *t, const struct lock_row *r) {
    uint64_t h = index_seed(&t->row_index);
    h = hash_pair(h, (uint64_t)r->class << 32 | r->flags, (uint64_t)r->owner << 32 | r->node);
    return (uint32_t)h;
}

static struct lock_row *find_row(struct lock_table *t, uint32_t hash, const struct lock_row *r) {
    uint32_t pos = hash, id;
    while ((id = index_next(&t->row_index, hash, &pos)) != INDEX_NONE) {
        struct lock_row *have = &t->row[id];
        if (have->class == r->class && have->flags == r->flags && have->owner == r->owner &&
            have->node == r->node)
            return have;
    }
    return NULL;
}

static void add_row(struct lock_row *to, const struct lock_row *r) {
    to->waits += r->waits;
    to->waited_ns += r->waited_ns;
    to->longest_ns = r->longest_ns > to->longest_ns ? r->longest_ns : to->longest_ns;
}

/* Finds the row for this wait, or adds it if there are fewer than `max`. 0; -ENOSPC: there are
 * `max` rows; -ENOMEM. */
static int row_of(struct lock_table *t, const struct lock_row *r, uint32_t max,
                  struct lock_row **row) {
    uint32_t hash = hash_row(t, r);
    *row = find_row(t, hash, r);
    if (*row)
        return 0;
    if (t->rows >= max)
        return -ENOSPC;
    if (index_reserve(&t->row_index) != 0 || !GROW(t->row, t->rows, t->row_cap))
        return -ENOMEM;
    index_put(&t->row_index, hash, t->rows);
    *row = &t->row[t->rows++];
    **row = (struct lock_row){r->class, r->flags, r->owner, r->node, 0, 0, 0};
    return 0;
}

static uint32_t find_class(struct lock_table *t, uint32_t hash, uint32_t method) {
    uint32_t pos = hash, id;
    while ((id = index_next(&t->class_index, hash, &pos)) != INDEX_NONE)
        if (t->class[id].method == method)
            return id;
    return INDEX_NONE;
}

static int class_of(struct lock_table *t, uint32_t method, uint32_t *class) {
    uint32_t hash = (uint32_t)hash_pair(index_seed(&t->class_index), method, 0);
    *class = find_class(t, hash, method);
    if (*class != INDEX_NONE)
        return 0;
    if (index_reserve(&t->class_index) != 0 || !GROW(t->class, t->classes, t->class_cap))
        return -ENOMEM;
    t->class[t->classes] = (struct lock_class){.method = method};
    index_put(&t->class_index, hash, t->classes);
    *class = t->classes++;
    return 0;
}

/* Returns the class for waits that there is no room to count separately. */
static int rest_class(struct profile *p, uint32_t *class) {
    struct lock_table *t = &p->locks;
    if (!t->rest) {
        uint32_t m = method_table_intern(p->methods, METHOD_ERROR, "", "[other locks]", "", "");
        if (m == METHOD_NONE || class_of(t, m, class) != 0)
            return -ENOMEM;
        t->rest = *class + 1;
    }
    *class = t->rest - 1;
    return 0;
}

/* Returns CALL_ROOT, which means no stack, if the tree is full or there is no memory. */
static uint32_t node_of(struct profile *p, const struct profile_lock *l) {
    uint32_t frames = l->owner_frames < LOCK_OWNER_FRAMES ? l->owner_frames : LOCK_OWNER_FRAMES;
    uint32_t keys = frames ? profile_keys(p, l->owner_frame, frames) : 0, node;
    for (uint32_t i = 0; i < keys; i++)
        p->key[i] = (uint32_t)p->key[i]; /* remove tiers and lines */
    if (keys == 0 ||
        call_tree_add(&p->locks.owners, p->key, keys, method_table_count(p->methods), &node) != 0)
        return CALL_ROOT;
    return node;
}

static int thread_of(struct profile *p, uint32_t tid, uint64_t virtual_id, uint64_t time_ns,
                     uint32_t *thread) {
    struct thread_table *t = &p->threads;
    if (!virtual_id)
        return thread_table_sampled(t, tid, time_ns, thread);
    int rc = virtual_threads_find(t, virtual_id, thread);
    if (rc != 0 || *thread == t->others_virtual)
        return rc;
    struct thread *v = &t->thread[*thread];
    v->tid = v->tid ? v->tid : tid;
    v->last_second = v->last_second < p->last_second ? p->last_second : v->last_second;
    return 0;
}

static int count_id(struct lock_table *t, const struct profile *p, struct id_set *s, uint64_t id) {
    uint32_t before = s->count, max = p->limits.lock_rows * 16;
    int rc = id_set_add(s, id, t->ids < max ? LOCK_IDS_MAX : before);
    t->ids += s->count - before;
    return rc;
}

/* Counts the waiter and the lock. The waiter is identified by its thread, because a tid may
 * be reused. */
static int count_ids(struct lock_table *t, const struct profile *p, uint32_t class,
                     uint64_t virtual_id, uint32_t waiter, uint64_t lock_id) {
    struct lock_class *c = &t->class[class];
    uint64_t platform = UINT64_C(1) << 63 | p->threads.thread[waiter].born;
    int rc = count_id(t, p, &c->waiters, virtual_id ? virtual_id : platform);
    return rc == 0 && lock_id ? count_id(t, p, &c->locks, lock_id) : rc;
}

/* Keeps some room for rows with less detail, because the class is more important than the owner,
 * and the owner more than its stack. */
static int find_place(struct profile *p, struct lock_row *r, struct lock_row **row) {
    struct lock_table *t = &p->locks;
    uint32_t max = p->limits.lock_rows;
    int rc = row_of(t, r, max / 2, row);
    if (rc == -ENOSPC) {
        r->node = CALL_ROOT;
        rc = row_of(t, r, max - max / 4, row);
    }
    if (rc == -ENOSPC) {
        r->owner = LOCK_OWNER_NONE;
        rc = row_of(t, r, max, row);
    }
    if (rc != -ENOSPC)
        return rc;
    rc = rest_class(p, &r->class);
    r->flags = 0;
    return rc == 0 ? row_of(t, r, UINT32_MAX, row) : rc;
}

static uint32_t hash_link(struct lock_table *t, const struct lock_link *l) {
    uint64_t h = index_seed(&t->link_index);
    h = hash_pair(h, (uint64_t)l->class << 32 | l->owner, (uint64_t)l->next_class << 32 | l->other);
    return (uint32_t)h;
}

static struct lock_link *find_link(struct lock_table *t, uint32_t hash, const struct lock_link *l) {
    uint32_t pos = hash, id;
    while ((id = index_next(&t->link_index, hash, &pos)) != INDEX_NONE) {
        struct lock_link *have = &t->link[id];
        if (have->class == l->class && have->owner == l->owner &&
            have->next_class == l->next_class && have->other == l->other)
            return have;
    }
    return NULL;
}

/* Adds a link. If there is no room, the link is left out; the rows still have its time. 0 or
 * -ENOMEM. */
static int add_link(struct lock_table *t, uint32_t max, const struct lock_link *l) {
    uint32_t hash = hash_link(t, l);
    struct lock_link *have = find_link(t, hash, l);
    if (have) {
        have->waits += l->waits;
        have->waited_ns += l->waited_ns;
        have->deadlock_ns += l->deadlock_ns;
        return 0;
    }
    if (t->links >= max)
        return 0;
    if (index_reserve(&t->link_index) != 0 || !GROW(t->link, t->links, t->link_cap))
        return -ENOMEM;
    index_put(&t->link_index, hash, t->links);
    t->link[t->links++] = *l;
    return 0;
}

/* Returns the part of an owner's recent wait that overlaps another wait. If there is none, begin is
 * not before end. */
static struct lock_recent overlap(const struct lock_recent *r, uint32_t owner,
                                  const struct lock_recent *wait) {
    struct lock_recent both = *r;
    both.begin_ns = wait->begin_ns > r->begin_ns ? wait->begin_ns : r->begin_ns;
    both.end_ns = r->end_ns < wait->end_ns ? r->end_ns : wait->end_ns;
    if (!r->end_ns || r->waiter != owner)
        both.end_ns = both.begin_ns;
    return both;
}

/* A shorter circle need not be a deadlock: if a thread lost a lock to a third thread before the
 * wait for it was over, it looks the same. */
#define DEADLOCK_LEAST_NS UINT64_C(100000000)
#define CIRCLE_STEPS 2u /* maximum number of further steps; each may be one of LOCK_RECENT_WAYS */

/* Returns how long, within this step of a chain, the thread at its end waits for `first`, where the
 * chain began. During that time none of the threads can make progress. */
static uint64_t in_circle(const struct lock_table *t, const struct lock_recent *step,
                          uint32_t first, uint32_t steps) {
    uint64_t most = 0;
    if (step->owner == first)
        return step->end_ns - step->begin_ns;
    if (step->owner == LOCK_OWNER_NONE || steps == 0)
        return 0;
    for (uint32_t i = 0; i < LOCK_RECENT_WAYS; i++) {
        struct lock_recent next =
            overlap(&t->recent[step->owner % LOCK_RECENT_SETS][i], step->owner, step);
        uint64_t ns = next.begin_ns < next.end_ns ? in_circle(t, &next, first, steps - 1) : 0;
        most = ns > most ? ns : most;
    }
    return most;
}

static struct lock_link link_of(const struct lock_entry *e) {
    return (struct lock_link){.class = e->class,
                              .owner = e->owner,
                              .next_class = e->next_class,
                              .other = e->next_class == LOCK_CLASS_NONE ? e->waiter : e->other,
                              .waits = e->waits,
                              .waited_ns = e->waited_ns,
                              .deadlock_ns = e->deadlock_ns};
}

/* Counts a wait as who waited for whom, or counts a step; both also in the history. */
static int count_link(struct profile *p, const struct lock_entry *e) {
    struct lock_link l = link_of(e);
    int rc = add_link(&p->locks, p->limits.lock_rows, &l);
    return rc == 0 ? lock_history_add(&p->lock_history, e) : rc;
}

/* Adds a step for each wait of the owner that overlaps this one. */
static int add_steps(struct profile *p, const struct lock_entry *e,
                     const struct lock_recent *wait) {
    struct lock_table *t = &p->locks;
    for (uint32_t i = 0; i < LOCK_RECENT_WAYS; i++) {
        struct lock_recent step =
            overlap(&t->recent[e->owner % LOCK_RECENT_SETS][i], e->owner, wait);
        if (step.begin_ns >= step.end_ns)
            continue;
        uint64_t circle_ns = in_circle(t, &step, wait->waiter, CIRCLE_STEPS);
        struct lock_entry s = *e;
        s.lock_id = 0;
        s.longest_ns = s.waited_ns = step.end_ns - step.begin_ns;
        s.deadlock_ns = circle_ns >= DEADLOCK_LEAST_NS ? circle_ns : 0;
        s.next_class = step.class;
        s.other = step.owner;
        int rc = count_link(p, &s);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Adds who waited for whom, and the steps that follow from it. */
static int link_wait(struct profile *p, const struct lock_entry *e, uint64_t end_ns) {
    struct lock_table *t = &p->locks;
    uint32_t set = e->waiter % LOCK_RECENT_SETS;
    uint64_t begin_ns = end_ns > e->waited_ns ? end_ns - e->waited_ns : 0;
    struct lock_recent wait = {e->waiter, e->class, e->owner, begin_ns, end_ns};
    if (!t->recent && !(t->recent = calloc(LOCK_RECENT_SETS, sizeof *t->recent)))
        return -ENOMEM;
    int rc = e->owner == LOCK_OWNER_NONE ? 0 : add_steps(p, e, &wait);
    if (rc == 0)
        rc = count_link(p, e);
    t->recent[set][t->recent_turn[set]++ % LOCK_RECENT_WAYS] = wait;
    return rc;
}

/* Returns the node of the waiter's stack; CALL_ROOT if it is not known. */
static uint32_t stack_of(const struct profile *p, const struct profile_lock *l) {
    bool known = l->at && l->at->born && l->at->node < p->tree.nodes &&
                 p->tree.node[l->at->node].method == l->class_id;
    return known ? l->at->node : CALL_ROOT;
}

int profile_lock_wait(struct profile *p, const struct profile_lock *l) {
    uint64_t begin = l->time_ns > l->waited_ns ? l->time_ns - l->waited_ns : 0;
    struct lock_row wait = {.flags = l->flags,
                            .owner = LOCK_OWNER_NONE,
                            .node = CALL_ROOT,
                            .waits = 1,
                            .waited_ns = l->waited_ns,
                            .longest_ns = l->waited_ns};
    struct lock_row *row;
    uint32_t waiter, carrier;
    int rc = 0;
    fold_threads(p, p->last_second);
    if (l->class_id < method_table_count(p->methods) && p->locks.classes < p->limits.lock_rows)
        rc = class_of(&p->locks, l->class_id, &wait.class);
    else
        rc = rest_class(p, &wait.class);
    if (rc == 0 && (l->owner_tid || l->owner_virtual_id)) {
        rc = thread_of(p, l->owner_tid, l->owner_virtual_id, begin, &wait.owner);
        wait.node = node_of(p, l);
    }
    if (rc == 0)
        rc = find_place(p, &wait, &row);
    if (rc == 0)
        rc = thread_of(p, l->tid, l->virtual_id, l->time_ns, &waiter);
    if (rc == 0)
        rc = thread_of(p, l->tid, 0, l->time_ns, &carrier);
    if (rc == 0)
        rc = count_ids(&p->locks, p, wait.class, l->virtual_id, waiter, l->lock_id);
    if (rc == 0)
        rc = link_wait(p,
                       &(struct lock_entry){.second = l->time_ns / NS_PER_SECOND,
                                            .lock_id = l->lock_id,
                                            .waited_ns = wait.waited_ns,
                                            .longest_ns = wait.longest_ns,
                                            .waits = 1,
                                            .class = wait.class,
                                            .flags = wait.flags,
                                            .owner = wait.owner,
                                            .node = wait.node,
                                            .waiter = waiter,
                                            .carrier = carrier,
                                            .stack = stack_of(p, l),
                                            .next_class = LOCK_CLASS_NONE,
                                            .other = LOCK_OWNER_NONE},
                       l->time_ns);
    if (rc == 0)
        add_row(row, &wait);
    return rc;
}

int lock_table_begin(struct lock_table *t, const struct lock_table *of) {
    *t = (struct lock_table){.class = calloc((size_t)of->classes + 1, sizeof *t->class)};
    if (!t->class)
        return -ENOMEM;
    t->classes = t->class_cap = of->classes;
    for (uint32_t i = 0; i < t->classes; i++)
        t->class[i].method = of->class[i].method;
    return 0;
}

int lock_table_count(struct lock_table *t, const struct profile *p, const struct lock_entry *e) {
    const struct thread *waiter = &p->threads.thread[e->waiter];
    const struct lock_row add = {.class = e->class,
                                 .flags = e->flags,
                                 .owner = e->owner,
                                 .node = e->node,
                                 .waits = e->waits,
                                 .waited_ns = e->waited_ns,
                                 .longest_ns = e->longest_ns};
    const struct lock_link link = link_of(e);
    struct lock_row *row;
    int rc = add_link(t, p->limits.lock_rows, &link);
    if (rc != 0 || e->next_class != LOCK_CLASS_NONE)
        return rc;
    rc = count_ids(t, p, e->class, waiter->is_virtual ? waiter->java_id : 0, e->waiter, e->lock_id);
    if (rc == 0)
        rc = row_of(t, &add, UINT32_MAX, &row);
    if (rc == 0)
        add_row(row, &add);
    return rc;
}

/* Drops the recent waits, because their threads' positions may belong to other threads by now. */
static void fold_links(struct profile *p,
                       uint32_t (*heir)(const struct profile *p, uint32_t thread)) {
    struct lock_table *t = &p->locks;
    uint32_t links = t->links;
    t->links = 0;
    index_clear(&t->link_index);
    for (uint32_t i = 0; i < links; i++) {
        struct lock_link l = t->link[i];
        l.owner = l.owner == LOCK_OWNER_NONE ? l.owner : heir(p, l.owner);
        l.other = l.other == LOCK_OWNER_NONE ? l.other : heir(p, l.other);
        uint32_t hash = hash_link(t, &l);
        struct lock_link *have = find_link(t, hash, &l);
        if (have) {
            have->waits += l.waits;
            have->waited_ns += l.waited_ns;
            have->deadlock_ns += l.deadlock_ns;
            continue;
        }
        index_put(&t->link_index, hash, t->links);
        t->link[t->links++] = l;
    }
    free(t->recent);
    t->recent = NULL;
}

/* Merges the rows that have become equal. There are no more rows than before, so there is room
 * for them. */
void lock_table_fold(struct profile *p,
                     uint32_t (*heir)(const struct profile *p, uint32_t thread)) {
    struct lock_table *t = &p->locks;
    uint32_t rows = t->rows;
    t->rows = 0;
    index_clear(&t->row_index);
    for (uint32_t i = 0; i < rows; i++) {
        struct lock_row r = t->row[i];
        r.owner = r.owner == LOCK_OWNER_NONE ? r.owner : heir(p, r.owner);
        uint32_t hash = hash_row(t, &r);
        struct lock_row *have = find_row(t, hash, &r);
        if (have) {
            add_row(have, &r);
            continue;
        }
        index_put(&t->row_index, hash, t->rows);
        t->row[t->rows++] = r;
    }
    fold_links(p, heir);
}

void lock_table_free(struct lock_table *t) {
    for (uint32_t i = 0; i < t->classes; i++) {
        id_set_free(&t->class[i].locks);
        id_set_free(&t->class[i].waiters);
    }
    free(t->row);
    free(t->class);
    free(t->link);
    free(t->recent);
    index_free(&t->row_index);
    index_free(&t->link_index);
    index_free(&t->class_index);
    call_tree_free(&t->owners);
    *t = (struct lock_table){0};
}
