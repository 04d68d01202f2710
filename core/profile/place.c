/* Samples taken back from where they were counted. */
#include "core/profile/profile_state.h"

/* The sums a sample is part of; NULL: that one was not kept. */
struct sums {
    uint32_t thread, carrier;
    struct thread_sum *sum;
    struct tally_entry *by_node, *by_pair, *by_carrier, *by_method, *by_state, *by_carrier_state;
};

/* What is to be taken from all of them alike. */
struct part {
    uint64_t weight, count, failed;
};

/* The row that has this thread's sums now: its own, or that of the others once it was folded. */
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

/* No more than there is: then there is as much in every sum this one is part of. */
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

static void subtract_from_history(struct profile *p, const struct profile_place *at,
                                  const struct sums *s, const struct part *part) {
    struct history_entry e = {.node = at->node,
                              .owner = owner_of(s->thread, at->event),
                              .carrier = s->carrier & HISTORY_CARRIER_MASK,
                              .state = at->state < PROFILE_STATES ? at->state & 15u : 0,
                              .failed = at->failed != 0};
    uint64_t weight = part->weight;
    uint32_t count = (uint32_t)part->count;
    if (at->entry != HISTORY_NONE)
        history_retract(&p->history, at->second, at->entry, &e, &weight, &count);
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
    standing_count(p, at->event, at->node, -part.weight, -part.count);
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
