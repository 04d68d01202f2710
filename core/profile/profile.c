#include "core/profile/profile.h"

#include "core/profile/fold.h"
#include "core/profile/profile_state.h"
#include "core/profile/table/virtual_threads.h"

#include <errno.h>
#include <stdlib.h>

struct profile *profile_new_limited(uint32_t history_seconds, const struct profile_limits *limits) {
    struct profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->methods = method_table_new();
    p->tree.overflow = METHOD_NONE;
    p->locks.owners.overflow = METHOD_NONE;
    p->history.span = history_seconds ? history_seconds : PROFILE_HISTORY_SECONDS;
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
    timeline_free(&p->timeline);
    free(p->rank);
    free(p->ranked);
    filter_free(&p->filter);
    for (int i = 0; i < STANDING; i++)
        standing_free(&p->standing[i]);
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
