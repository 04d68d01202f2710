/* Counts samples: new ones, and repeats of samples that were counted before. */
#include "core/profile/fold.h"

#include "core/profile/profile_state.h"
#include "core/profile/table/virtual_threads.h"

#include <errno.h>

/* Samples that are taken back from where they were counted. */

/* The sums that a sample is part of; NULL: that sum was not kept. */
struct sums {
    uint32_t thread, carrier;
    struct thread_sum *sum;
    struct tally_entry *by_node, *by_pair, *by_carrier, *by_method, *by_state, *by_carrier_state;
};

/* What is subtracted from each of the sums. */
struct part {
    uint64_t weight, count, failed;
};

/* Returns the row that has this thread's sums now: its own, or the row of the others if the thread
 * was folded. */
static uint32_t row_of(const struct thread_table *t, uint32_t thread, uint32_t born, bool virtual) {
    if (thread_table_is(t, thread, born))
        return thread;
    return virtual ? t->others_virtual : THREAD_OTHERS;
}

static struct sums find_sums(struct profile *p, const struct profile_place *at) {
    bool is_virtual = at->virtual_id != 0;
    uint32_t thread = row_of(&p->threads, at->thread, at->born, is_virtual);
    uint32_t carrier = row_of(&p->threads, at->carrier, at->carrier_born, false);
    uint32_t owner = owner_of(thread, at->event), carried = owner_of(carrier, at->event);
    return (struct sums){
        .thread = thread,
        .carrier = is_virtual ? carrier : thread,
        .sum = thread_table_known_sum(&p->threads, thread, at->event),
        .by_node = tally_find(&p->by_node, at->node, owner_of(0, at->event)),
        .by_pair = tally_find(&p->by_pair, at->rest & 1 ? p->rest : at->node, owner),
        .by_carrier = is_virtual
                          ? tally_find(&p->by_carrier, at->rest & 2 ? p->rest : at->node, carried)
                          : NULL,
        .by_method = tally_find(&p->by_method, p->tree.node[at->node].method, owner),
        .by_state = tally_find(&p->by_state, at->state, owner),
        .by_carrier_state =
            is_virtual ? tally_find(&p->by_carrier_state, at->state, carried) : NULL,
    };
}

static uint64_t at_most(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Limits the part to what the entry has. Then every sum that the entry is part of has at least
 * as much. */
static void limit(struct part *part, const struct tally_entry *e, bool failed) {
    part->weight = at_most(part->weight, e->weight);
    part->count = at_most(part->count, failed ? e->failed : e->count - e->failed);
    part->failed = failed ? part->count : 0;
}

static void subtract(struct tally_entry *e, const struct part *part) {
    if (!e)
        return;
    e->weight -= at_most(e->weight, part->weight);
    e->count -= at_most(e->count, part->count);
    e->failed -= at_most(e->failed, part->failed);
}

static void subtract_from_thread(struct profile *p, const struct profile_place *at,
                                 const struct sums *s, const struct part *part) {
    s->sum->weight -= part->weight;
    s->sum->count -= part->count;
    if (s->sum->top == p->tree.node[at->node].method + 1)
        s->sum->stale = p->stale[at->event] = true;
}

static struct standing_change change_of(const struct profile_place *at, uint32_t thread,
                                        uint64_t weight, uint64_t count) {
    return (struct standing_change){.weight = weight,
                                    .count = count,
                                    .node = at->node,
                                    .thread = thread,
                                    .event = at->event,
                                    .state = at->state < PROFILE_STATES ? at->state : 0,
                                    .failed = at->failed != 0};
}

static void subtract_from_history(struct profile *p, const struct profile_place *at,
                                  const struct sums *s, const struct part *part) {
    struct history_entry e = {.node = at->node,
                              .owner = owner_of(s->thread, at->event),
                              .carrier = s->carrier & HISTORY_CARRIER_MASK,
                              .state = at->state < PROFILE_STATES ? at->state & 15u : 0,
                              .failed = at->failed != 0};
    uint64_t weight = part->weight;
    uint32_t count = (uint32_t)part->count;
    if (at->entry != HISTORY_NONE) {
        history_retract(&p->history, at->second, at->entry, &e, &weight, &count);
        struct standing_change c = change_of(at, s->thread, -weight, -(uint64_t)count);
        standing_count_second(p, &c, at->second);
    }
    timeline_retract(&p->timeline, at->second, at->event, weight, count);
}

void profile_retract(struct profile *p, const struct profile_place *at, uint64_t weight,
                     uint32_t count) {
    if (at->born == 0 || at->event >= PROFILE_EVENTS || at->node >= p->tree.nodes)
        return;
    struct sums s = find_sums(p, at);
    struct part part = {weight, count, 0};
    if (!s.sum || !s.by_node || !s.by_pair || (at->virtual_id && !s.by_carrier))
        return;
    limit(&part, s.by_node, at->failed);
    limit(&part, s.by_pair, at->failed);
    if (s.by_carrier)
        limit(&part, s.by_carrier, at->failed);
    subtract(s.by_node, &part);
    struct standing_change c = change_of(at, s.thread, -part.weight, -part.count);
    standing_count(p, &c);
    subtract(s.by_pair, &part);
    subtract(s.by_carrier, &part);
    subtract(s.by_method, &part);
    subtract(s.by_state, &part);
    subtract(s.by_carrier_state, &part);
    subtract_from_thread(p, at, &s, &part);
    subtract_from_history(p, at, &s, &part);
    p->weight[at->event] -= part.weight;
    p->samples[at->event] -= part.count;
    p->failed[at->event] -= part.failed;
}

void profile_settle_tops(struct profile *p, uint32_t event) {
    struct thread_table *t = &p->threads;
    if (!p->stale[event])
        return;
    p->stale[event] = false;
    for (uint32_t i = 0; i < t->sums[event]; i++)
        if (t->sum[event][i].stale)
            t->sum[event][i].top = 0;
    for (uint32_t i = 0; i < p->by_method.count; i++) {
        const struct tally_entry *m = &p->by_method.entry[i];
        struct thread_sum *sum = thread_table_known_sum(t, owner_thread(m->owner), event);
        if (sum && sum->stale && owner_event(m->owner) == (int)event && (m->weight | m->count))
            thread_top_method(sum, m->what, m->weight);
    }
    for (uint32_t i = 0; i < t->sums[event]; i++)
        t->sum[event][i].stale = false;
}

/* Returns the method with this name, of kind METHOD_ERROR; caches it in `id`. */
static int error_method(struct profile *p, const char *name, uint32_t *id) {
    if (*id == METHOD_NONE)
        *id = method_table_intern(p->methods, METHOD_ERROR, "", name, "", "");
    return *id == METHOD_NONE ? -ENOMEM : 0;
}

uint32_t profile_keys(struct profile *p, const struct profile_frame *frame, uint32_t frames) {
    uint32_t n = frames < PROFILE_STACK_MAX ? frames : PROFILE_STACK_MAX;
    uint32_t known = method_table_count(p->methods), strange = n == 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct profile_frame *f = &frame[i];
        strange |= f->method >= known;
        p->key[i] = call_key(f->method, f->tier < TIERS ? f->tier : TIER_NONE, f->line);
    }
    if (strange && error_method(p, "[unknown]", &p->unknown) != 0)
        return 0;
    for (uint32_t i = 0; strange && i < n; i++)
        if ((uint32_t)p->key[i] >= known)
            p->key[i] = call_key(p->unknown, TIER_NONE, 0);
    if (n == 0)
        p->key[n++] = call_key(p->unknown, TIER_NONE, 0);
    return n;
}

static int find_node(struct profile *p, const struct profile_sample *s, uint32_t *node) {
    uint32_t keys = profile_keys(p, s->frame, s->frames);
    if (keys == 0)
        return -ENOMEM;
    int rc = call_tree_add(&p->tree, p->key, keys, method_table_count(p->methods), node);
    if (rc != -ENOSPC)
        return rc;
    rc = error_method(p, "[stack not kept]", &p->tree.overflow);
    if (rc == 0)
        rc = call_tree_add(&p->tree, p->key, keys, method_table_count(p->methods), node);
    return rc;
}

/* A full tally counts further stacks of a thread in this entry. The number of such entries is
 * limited by the number of threads and events. */
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

/* The entries in which a sample counts. by_carrier is NULL for a platform thread's sample;
 * by_method, by_state and by_carrier_state are NULL if their tables are full or the state is
 * unknown. */
struct places {
    uint32_t node, thread, carrier, entry;
    struct tally_entry *by_node, *by_pair, *by_carrier, *by_method, *by_state, *by_carrier_state;
    struct thread_sum *sum;
};

static int find_threads(struct profile *p, const struct profile_sample *s, struct places *at) {
    int rc = thread_table_sampled(&p->threads, s->tid, s->time_ns, &at->carrier);
    at->thread = at->carrier;
    return rc != 0 || !s->virtual_id
               ? rc
               : virtual_threads_find(&p->threads, s->virtual_id, &at->thread);
}

/* Finds an entry of a table that may be full; a full table is not an error. */
static int find_optional(struct tally *t, uint32_t what, uint32_t owner, uint32_t max,
                         struct tally_entry **e) {
    *e = tally_entry(t, what, owner, max);
    return *e || t->count >= max ? 0 : -ENOMEM;
}

static int find_states(struct profile *p, const struct profile_sample *s, struct places *at) {
    uint32_t max = p->limits.states;
    at->by_state = at->by_carrier_state = NULL;
    if (s->state == 0 || s->state >= PROFILE_STATES)
        return 0;
    int rc =
        find_optional(&p->by_state, s->state, owner_of(at->thread, s->event), max, &at->by_state);
    if (rc != 0 || !s->virtual_id)
        return rc;
    return find_optional(&p->by_carrier_state, s->state, owner_of(at->carrier, s->event), max,
                         &at->by_carrier_state);
}

/* Call it after the threads and the node are found. */
static int find_places(struct profile *p, const struct profile_sample *s, struct places *at) {
    uint32_t owner = owner_of(at->thread, s->event), leaf = p->tree.node[at->node].method;
    at->by_carrier = NULL;
    at->sum = thread_table_sum(&p->threads, at->thread, s->event);
    at->by_node = tally_entry(&p->by_node, at->node, owner_of(0, s->event), UINT32_MAX);
    at->by_pair = pair_entry(p, &p->by_pair, at->node, owner);
    if (!at->sum || !at->by_node || !at->by_pair)
        return -ENOMEM;
    if (s->virtual_id)
        at->by_carrier = pair_entry(p, &p->by_carrier, at->node, owner_of(at->carrier, s->event));
    if (s->virtual_id && !at->by_carrier)
        return -ENOMEM;
    int rc = find_optional(&p->by_method, leaf, owner, p->limits.pairs, &at->by_method);
    return rc != 0 ? rc : find_states(p, s, at);
}

static void count_entry(struct tally_entry *e, const struct profile_sample *s) {
    if (!e)
        return;
    e->weight += s->weight;
    e->count += s->count;
    e->failed += s->failed ? s->count : 0;
}

static void touch(struct thread *t, uint64_t second) {
    if (!t->sampled || second > t->last_second)
        t->last_second = second;
    t->sampled = true;
}

static void count_thread(struct profile *p, const struct profile_sample *s,
                         const struct places *at) {
    struct thread *t = &p->threads.thread[at->thread];
    uint64_t second = s->time_ns / NS_PER_SECOND;
    at->sum->weight += s->weight;
    at->sum->count += s->count;
    if (t->is_virtual)
        t->tid = s->tid;
    touch(t, second);
    touch(&p->threads.thread[at->carrier], second);
    if (at->by_method)
        thread_top_method(at->sum, at->by_method->what, at->by_method->weight);
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
    event_runs_sample(&p->runs[s->event], s->time_ns);
    timeline_count(&p->timeline, second, s->event, s->weight, s->count);
}

static int count_history(struct profile *p, const struct profile_sample *s, struct places *at) {
    struct history_entry e = {.node = at->node,
                              .owner = owner_of(at->thread, s->event),
                              .carrier = at->carrier & HISTORY_CARRIER_MASK,
                              .state = s->state < PROFILE_STATES ? s->state & 15u : 0,
                              .failed = s->failed != 0,
                              .count = s->count,
                              .weight = s->weight};
    return history_add(&p->history, s->time_ns / NS_PER_SECOND, &e, &at->entry);
}

static struct profile_place place_of(const struct profile *p, const struct profile_sample *s,
                                     const struct places *at) {
    const struct thread *thread = p->threads.thread;
    bool pair_rest = at->by_pair->what != at->node;
    bool carrier_rest = at->by_carrier && at->by_carrier->what != at->node;
    return (struct profile_place){.virtual_id = s->virtual_id,
                                  .second = s->time_ns / NS_PER_SECOND,
                                  .entry = at->entry,
                                  .node = at->node,
                                  .tid = s->tid,
                                  .thread = at->thread,
                                  .born = thread[at->thread].born,
                                  .carrier = at->carrier,
                                  .carrier_born = thread[at->carrier].born,
                                  .event = s->event,
                                  .failed = s->failed != 0,
                                  .state = s->state,
                                  .rest = (uint8_t)(pair_rest | carrier_rest << 1)};
}

static void count_standing(struct profile *p, const struct profile_sample *s,
                           const struct places *at) {
    const struct standing_change c = {.weight = s->weight,
                                      .count = s->count,
                                      .node = at->node,
                                      .thread = at->thread,
                                      .event = s->event,
                                      .state = s->state < PROFILE_STATES ? s->state : 0,
                                      .failed = s->failed != 0};
    standing_count(p, &c);
    if (at->entry != HISTORY_NONE)
        standing_count_second(p, &c, s->time_ns / NS_PER_SECOND);
}

/* All steps that can fail come first and count nothing. */
static int count_sample(struct profile *p, const struct profile_sample *s, struct places *at) {
    int rc = find_places(p, s, at);
    if (rc == 0)
        rc = count_history(p, s, at);
    if (rc != 0)
        return rc;
    count_entry(at->by_node, s);
    count_standing(p, s, at);
    count_entry(at->by_pair, s);
    count_entry(at->by_carrier, s);
    count_entry(at->by_method, s);
    count_entry(at->by_state, s);
    count_entry(at->by_carrier_state, s);
    count_thread(p, s, at);
    count_profile(p, s);
    return 0;
}

int profile_add_at(struct profile *p, const struct profile_sample *s, struct profile_place *at) {
    struct places to;
    *at = (struct profile_place){0};
    if (s->event >= PROFILE_EVENTS)
        return -EINVAL;
    fold_threads(p, s->time_ns / NS_PER_SECOND);
    int rc = find_threads(p, s, &to);
    if (rc == 0)
        rc = find_node(p, s, &to.node);
    if (rc == 0)
        rc = count_sample(p, s, &to);
    if (rc == 0)
        *at = place_of(p, s, &to);
    return rc;
}

int profile_add(struct profile *p, const struct profile_sample *s) {
    struct profile_place at;
    return profile_add_at(p, s, &at);
}

/* Whether the row still belongs to that thread at this time, by the rule of
 * thread_table_sampled. */
static bool is_there(const struct profile *p, uint32_t thread, uint32_t born, uint64_t time_ns) {
    const struct thread *t = &p->threads.thread[thread];
    return thread_table_is(&p->threads, thread, born) &&
           (!t->ended || time_ns <= t->ended_ns || time_ns - t->ended_ns <= THREAD_END_GRACE_NS);
}

int profile_repeat(struct profile *p, const struct profile_place *at, uint64_t time_ns,
                   uint64_t weight, uint32_t count, uint8_t state) {
    struct profile_sample s = {.time_ns = time_ns,
                               .weight = weight,
                               .count = count,
                               .tid = at->tid,
                               .virtual_id = at->virtual_id,
                               .event = at->event,
                               .failed = at->failed,
                               .state = state};
    struct places to = {.node = at->node, .thread = at->thread, .carrier = at->carrier};
    int rc = 0;
    if (at->born == 0 || at->event >= PROFILE_EVENTS || at->node >= p->tree.nodes)
        return -EINVAL;
    fold_threads(p, time_ns / NS_PER_SECOND);
    if (!is_there(p, at->thread, at->born, time_ns) ||
        !is_there(p, at->carrier, at->carrier_born, time_ns))
        rc = find_threads(p, &s, &to);
    return rc != 0 ? rc : count_sample(p, &s, &to);
}
