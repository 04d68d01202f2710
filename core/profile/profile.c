#include "core/profile/profile.h"

#include "core/profile/fold.h"
#include "core/profile/profile_state.h"
#include "core/profile/virtual_threads.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_SECOND UINT64_C(1000000000)

const struct profile_limits profile_default_limits = {
    .nodes = 1 << 22,
    .pairs = 1 << 21,
    .threads = 1 << 16,
    .virtuals = 1 << 15,
    .virtual_roots = METHOD_TABLE_MAX / 2,
    .history_bytes = (size_t)64 << 20,
};

struct profile *profile_new_limited(uint32_t history_seconds, const struct profile_limits *limits) {
    struct profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->limits = *limits;
    p->methods = method_table_new();
    p->tree.max_nodes = limits->nodes;
    p->tree.overflow = METHOD_NONE;
    p->threads.max = limits->threads;
    p->threads.max_virtual = limits->virtuals;
    p->threads.names.limit = (size_t)64 << 20;
    p->history.span = history_seconds ? history_seconds : PROFILE_HISTORY_SECONDS;
    p->history.limit = limits->history_bytes;
    p->unknown = METHOD_NONE;
    p->rest = CALL_ROOT;
    if (!p->methods) {
        profile_free(p);
        return NULL;
    }
    return p;
}

struct profile *profile_new(uint32_t history_seconds) {
    return profile_new_limited(history_seconds, &profile_default_limits);
}

void scratch_free(struct scratch *k) {
    free(k->item);
    free(k->total);
    free(k->touch);
    free(k->path_branch);
    free(k->path_total);
}

void profile_free(struct profile *p) {
    if (!p)
        return;
    method_table_free(p->methods);
    call_tree_free(&p->tree);
    thread_table_free(&p->threads);
    history_free(&p->history);
    tally_free(&p->by_node);
    tally_free(&p->by_pair);
    tally_free(&p->by_carrier);
    tally_free(&p->by_method);
    free(p->rank);
    free(p->ranked);
    scratch_free(&p->scratch);
    free(p);
}

struct method_table *profile_methods(struct profile *p) {
    return p->methods;
}

const struct method_table *profile_methods_const(const struct profile *p) {
    return p->methods;
}

/* The method called `name`, an ERROR; kept in `id` once it is known. */
static int error_method(struct profile *p, const char *name, uint32_t *id) {
    if (*id == METHOD_NONE)
        *id = method_table_intern(p->methods, METHOD_ERROR, "", name, "", "");
    return *id == METHOD_NONE ? -ENOMEM : 0;
}

/* The sample's frames as keys in p->key, leaf first: at least one, every method known. */
static int take_keys(struct profile *p, const struct profile_sample *s, uint32_t *keys) {
    uint32_t n = s->frames < PROFILE_STACK_MAX ? s->frames : PROFILE_STACK_MAX;
    uint32_t known = method_table_count(p->methods), strange = n == 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct profile_frame *f = &s->frame[i];
        strange |= f->method >= known;
        p->key[i] = call_key(f->method, f->tier < TIERS ? f->tier : TIER_NONE, f->line);
    }
    if (strange && error_method(p, "[unknown]", &p->unknown) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; strange && i < n; i++)
        if ((uint32_t)p->key[i] >= known)
            p->key[i] = call_key(p->unknown, TIER_NONE, 0);
    if (n == 0)
        p->key[n++] = call_key(p->unknown, TIER_NONE, 0);
    *keys = n;
    return 0;
}

static int find_node(struct profile *p, const struct profile_sample *s, uint32_t *node) {
    uint32_t keys = 0;
    int rc = take_keys(p, s, &keys);
    if (rc == 0)
        rc = call_tree_add(&p->tree, p->key, keys, method_table_count(p->methods), node);
    if (rc != -ENOSPC)
        return rc;
    rc = error_method(p, "[stack not kept]", &p->tree.overflow);
    if (rc == 0)
        rc = call_tree_add(&p->tree, p->key, keys, method_table_count(p->methods), node);
    return rc;
}

/* Where a full tally counts a thread's further stacks: bounded by threads and events. */
static struct tally_entry *rest_entry(struct profile *p, struct tally *t, uint32_t owner) {
    if (p->rest == CALL_ROOT) {
        if (error_method(p, "[stack not kept]", &p->tree.overflow) != 0)
            return NULL;
        uint64_t key = call_key(p->tree.overflow, TIER_NONE, 0);
        uint32_t methods = method_table_count(p->methods);
        if (call_tree_add(&p->tree, &key, 1, methods, &p->rest) != 0)
            return NULL;
    }
    return tally_entry(t, p->rest, owner, UINT32_MAX);
}

static struct tally_entry *pair_entry(struct profile *p, struct tally *t, uint32_t node,
                                      uint32_t owner) {
    struct tally_entry *e = tally_entry(t, node, owner, p->limits.pairs);
    return e || t->count < p->limits.pairs ? e : rest_entry(p, t, owner);
}

static void count(struct tally_entry *e, const struct profile_sample *s) {
    e->weight += s->weight;
    e->count += s->count;
    e->failed += s->failed ? s->count : 0;
}

static void touch(struct thread *t, uint64_t second) {
    if (!t->sampled || second > t->last_second)
        t->last_second = second;
    t->sampled = true;
}

static void count_thread(struct thread *t, const struct profile_sample *s,
                         const struct tally_entry *method) {
    t->event[s->event].weight += s->weight;
    t->event[s->event].count += s->count;
    if (t->is_virtual)
        t->tid = s->tid;
    touch(t, s->time_ns / NS_PER_SECOND);
    if (method)
        thread_top_method(t, s->event, method->what, method->weight);
}

static void count_profile(struct profile *p, const struct profile_sample *s) {
    uint64_t second = s->time_ns / NS_PER_SECOND;
    p->weight[s->event] += s->weight;
    p->samples[s->event] += s->count;
    p->failed[s->event] += s->failed ? s->count : 0;
    if (!p->any || second < p->first_second)
        p->first_second = second;
    if (!p->any || second > p->last_second)
        p->last_second = second;
    if (s->time_ns > p->newest_ns)
        p->newest_ns = s->time_ns;
    p->any = true;
}

/* Where a sample counts. by_carrier is NULL for a platform thread's, by_method where its table is
 * full. */
struct places {
    uint32_t node, thread, carrier;
    struct tally_entry *by_node, *by_pair, *by_carrier, *by_method;
};

static int find_threads(struct profile *p, const struct profile_sample *s, struct places *at) {
    int rc = thread_table_sampled(&p->threads, s->tid, s->time_ns, &at->carrier);
    at->thread = at->carrier;
    return rc != 0 || !s->virtual_id
               ? rc
               : virtual_threads_find(&p->threads, s->virtual_id, &at->thread);
}

static int find_places(struct profile *p, const struct profile_sample *s, struct places *at) {
    int rc = find_threads(p, s, at);
    if (rc == 0)
        rc = find_node(p, s, &at->node);
    if (rc != 0)
        return rc;
    uint32_t owner = owner_of(at->thread, s->event), leaf = p->tree.node[at->node].method;
    at->by_node = tally_entry(&p->by_node, at->node, owner_of(0, s->event), UINT32_MAX);
    at->by_pair = pair_entry(p, &p->by_pair, at->node, owner);
    at->by_method = tally_entry(&p->by_method, leaf, owner, p->limits.pairs);
    at->by_carrier = s->virtual_id
                         ? pair_entry(p, &p->by_carrier, at->node, owner_of(at->carrier, s->event))
                         : NULL;
    return !at->by_node || !at->by_pair || (s->virtual_id && !at->by_carrier) ||
                   (!at->by_method && p->by_method.count < p->limits.pairs)
               ? -ENOMEM
               : 0;
}

/* Everything that can fail comes first and counts nothing. */
int profile_add(struct profile *p, const struct profile_sample *s) {
    struct places at;
    if (s->event >= PROFILE_EVENTS)
        return -EINVAL;
    uint64_t second = s->time_ns / NS_PER_SECOND;
    fold_threads(p, second);
    int rc = find_places(p, s, &at);
    if (rc != 0)
        return rc;
    struct history_entry e = {.node = at.node,
                              .owner = owner_of(at.thread, s->event),
                              .carrier = at.carrier & INT32_MAX,
                              .failed = s->failed != 0,
                              .count = s->count,
                              .weight = s->weight};
    rc = history_add(&p->history, second, &e);
    if (rc != 0)
        return rc;
    count(at.by_node, s);
    count(at.by_pair, s);
    if (at.by_carrier)
        count(at.by_carrier, s);
    if (at.by_method)
        count(at.by_method, s);
    count_thread(&p->threads.thread[at.thread], s, at.by_method);
    touch(&p->threads.thread[at.carrier], second);
    count_profile(p, s);
    return 0;
}

int profile_thread_name(struct profile *p, uint32_t tid, uint64_t java_id, const char *name) {
    fold_threads(p, p->last_second);
    return thread_table_name(&p->threads, tid, java_id, name);
}

void profile_thread_end(struct profile *p, uint32_t tid) {
    thread_table_end(&p->threads, tid, p->newest_ns);
}

int profile_virtual_name(struct profile *p, uint64_t virtual_id, const char *name) {
    if (virtual_id == 0)
        return -EINVAL;
    fold_threads(p, p->last_second);
    return virtual_threads_name(&p->threads, virtual_id, name, p->last_second);
}

uint64_t profile_weight(const struct profile *p, int event) {
    return event >= 0 && event < PROFILE_EVENTS ? p->weight[event] : 0;
}

uint64_t profile_samples(const struct profile *p, int event) {
    return event >= 0 && event < PROFILE_EVENTS ? p->samples[event] : 0;
}

uint64_t profile_failed(const struct profile *p, int event) {
    return event >= 0 && event < PROFILE_EVENTS ? p->failed[event] : 0;
}

void profile_span(const struct profile *p, uint64_t *first, uint64_t *last, uint64_t *oldest_kept) {
    *first = p->first_second;
    *last = p->last_second;
    *oldest_kept = p->history.end ? p->history.second[p->history.first].second : 0;
}

uint32_t profile_node_count(const struct profile *p) {
    return p->tree.paths;
}

uint32_t profile_thread_count(const struct profile *p) {
    const struct thread_table *t = &p->threads;
    return t->count ? t->count - t->unused_count - 1 - (t->others_virtual != 0) : 0;
}
