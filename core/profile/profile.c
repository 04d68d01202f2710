#include "core/profile/profile.h"

#include "core/profile/fold.h"
#include "core/profile/profile_state.h"
#include "core/profile/table/virtual_threads.h"

#include <errno.h>
#include <stdlib.h>

/* Limits on what a profile keeps. */

const struct profile_limits profile_default_limits = {
    .nodes = 1 << 22,
    .pairs = 1 << 21,
    .threads = 1 << 16,
    .virtuals = 1 << 15,
    .virtual_roots = METHOD_TABLE_MAX / 2,
    .states = 1 << 18,
    .lock_rows = 1 << 13,
    .lock_entries = 1 << 16,
    .owner_nodes = 1 << 16,
    .name_bytes = (size_t)512 << 20,
    .history_bytes = (size_t)64 << 20,
};

/* Sets the limits. Call it before the first sample. */
static void profile_set_limits(struct profile *p, const struct profile_limits *limits) {
    p->limits = *limits;
    p->tree.max_nodes = limits->nodes;
    p->locks.owners.max_nodes = limits->owner_nodes;
    p->threads.max = limits->threads;
    p->threads.max_virtual = limits->virtuals;
    p->history.limit = limits->history_bytes;
    p->lock_history.max = limits->lock_entries;
    p->threads.names.limit = limits->name_bytes / 8;
    method_table_limit(p->methods, limits->name_bytes);
}

/* Returns how many entries fit into `bytes` bytes. An entry takes `each` bytes with everything that
 * belongs to it: its positions in tables and their indexes, and in what a snapshot keeps for the
 * next one. */
static uint32_t fit(uint64_t bytes, uint32_t each, uint32_t least, uint32_t most) {
    uint64_t n = bytes / each;
    n = n < least ? least : n;
    return n < most ? (uint32_t)n : most;
}

void profile_limit_memory(struct profile *p, uint64_t bytes) {
    const struct profile_limits *d = &profile_default_limits;
    struct profile_limits l = *d;
    if (bytes == 0)
        return;
    uint64_t part = bytes / 100;
    l.nodes = fit(part * 40, 180, 1 << 12, d->nodes);
    l.pairs = fit(part * 25, 120, 1 << 12, d->pairs);
    l.threads = fit(part * 3, 300, 1 << 8, d->threads);
    l.virtuals = fit(part * 2, 400, 1 << 7, d->virtuals);
    l.states = fit(part * 2, 54, 1 << 10, d->states);
    l.lock_rows = fit(part * 3, 1 << 9, 1 << 6, d->lock_rows);
    l.owner_nodes = l.lock_rows * 8;
    l.lock_entries = fit(part, 200, 1 << 8, d->lock_entries);
    l.history_bytes = fit(part * 12, 1, 1 << 18, (uint32_t)d->history_bytes);
    l.name_bytes = fit(part * 12, 1, 1 << 20, (uint32_t)d->name_bytes);
    l.virtual_roots = fit(l.name_bytes / 4, 64, 1 << 10, d->virtual_roots);
    profile_set_limits(p, &l);
}

/* The functions below remove what was counted for an event whose number gets another meaning. */

static void forget_tally(struct tally *t, uint32_t event) {
    for (uint32_t i = 0; i < t->count; i++) {
        struct tally_entry *e = &t->entry[i];
        if (owner_event(e->owner) == (int)event)
            e->weight = e->count = e->failed = 0;
    }
}

static bool forget_entry(void *arg, struct history_entry *e) {
    const uint32_t *event = arg;
    if (owner_event(e->owner) != (int)*event)
        return false;
    e->weight = e->count = 0;
    return true;
}

static void forget_timeline(struct timeline *t, uint32_t event) {
    for (uint32_t i = 0; i < t->slots; i++)
        t->slot[i].weight[event] = t->slot[i].samples[event] = 0;
}

void profile_forget(struct profile *p, uint32_t event) {
    struct tally *tallies[] = {&p->by_node,   &p->by_pair,  &p->by_carrier,
                               &p->by_method, &p->by_state, &p->by_carrier_state};
    if (event >= PROFILE_EVENTS)
        return;
    for (size_t i = 0; i < sizeof tallies / sizeof tallies[0]; i++)
        forget_tally(tallies[i], event);
    for (uint32_t i = 0; i < p->threads.sums[event]; i++)
        p->threads.sum[event][i] = (struct thread_sum){0};
    p->stale[event] = false;
    history_change(&p->history, forget_entry, &event);
    standing_forget(p, event);
    forget_timeline(&p->timeline, event);
    p->runs[event] = (struct event_runs){.count = 0};
    p->weight[event] = p->samples[event] = p->failed[event] = 0;
}

void profile_event_runs(struct profile *p, int event, uint64_t time_ns, bool runs) {
    if (event >= 0 && event < PROFILE_EVENTS)
        event_runs_note(&p->runs[event], time_ns, runs);
}

struct profile *profile_new_limited(uint32_t history_seconds, const struct profile_limits *limits) {
    struct profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->methods = method_table_new();
    p->tree.overflow = METHOD_NONE;
    p->locks.owners.overflow = METHOD_NONE;
    p->history.span = history_seconds ? history_seconds : PROFILE_HISTORY_SECONDS;
    p->history.dropped = standing_drop;
    p->history.arg = p;
    p->lock_history.span = p->history.span;
    p->unknown = METHOD_NONE;
    p->rest = CALL_ROOT;
    if (p->methods)
        profile_set_limits(p, limits);
    if (!p->methods || timeline_open(&p->timeline, p->history.span) != 0) {
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
    free(k->branch);
    free(k->built);
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
    tally_free(&p->by_state);
    tally_free(&p->by_carrier_state);
    lock_table_free(&p->locks);
    lock_history_free(&p->lock_history);
    timeline_free(&p->timeline);
    free(p->rank);
    free(p->ranked);
    for (int i = 0; i < FILTERS; i++)
        filter_free(&p->filter[i]);
    filter_free(&p->owner_filter);
    native_fold_free(&p->native_fold);
    for (int i = 0; i < STANDING; i++)
        standing_free(&p->standing[i]);
    for (int i = 0; i < SPARKS; i++)
        sparks_free(&p->sparks[i]);
    scratch_free(&p->scratch);
    free(p);
}

struct method_table *profile_methods(struct profile *p) {
    return p->methods;
}

const struct method_table *profile_methods_const(const struct profile *p) {
    return p->methods;
}

int profile_thread_name(struct profile *p, uint32_t tid, uint64_t java_id, const char *name) {
    fold_threads(p, p->last_second);
    return thread_table_name(&p->threads, tid, java_id, name);
}

void profile_thread_end(struct profile *p, uint32_t tid) {
    thread_table_end(&p->threads, tid, p->newest_ns);
}

void profile_java_state(struct profile *p, uint32_t tid, uint8_t state) {
    thread_table_state(&p->threads, tid, state);
}

void profile_forget_java_states(struct profile *p) {
    for (uint32_t i = 0; i < p->threads.count; i++)
        p->threads.thread[i].java_state = 0;
}

static int compare_tids(const void *a, const void *b) {
    const struct profile_living *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

int profile_living(const struct profile *p, struct profile_living **out) {
    const struct thread_table *t = &p->threads;
    int n = 0;
    *out = t->tids ? calloc(t->tids, sizeof **out) : NULL;
    if (t->tids && !*out)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->tids; i++) {
        const struct thread *from = &t->thread[t->latest[i]];
        if (!from->ended && !from->free && !from->is_virtual && from->name[0])
            (*out)[n++] =
                (struct profile_living){from->tid, from->java_state, from->java_id, from->name};
    }
    if (n)
        qsort(*out, (size_t)n, sizeof **out, compare_tids);
    return n;
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
