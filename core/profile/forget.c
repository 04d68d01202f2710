/* An event that means something else from now on. */
#include "core/profile/profile_state.h"

static void forget_tally(struct tally *t, uint32_t event) {
    for (uint32_t i = 0; i < t->count; i++) {
        struct tally_entry *e = &t->entry[i];
        if (owner_event(e->owner) == (int)event)
            e->weight = e->count = e->failed = 0;
    }
}

static void forget_history(struct history *h, uint32_t event) {
    for (uint32_t i = h->first; i < h->end; i++) {
        struct history_second *s = &h->second[i];
        for (uint32_t j = 0; j < s->count; j++)
            if (owner_event(s->entry[j].owner) == (int)event)
                s->entry[j].weight = s->entry[j].count = 0;
    }
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
    forget_history(&p->history, event);
    standing_forget(p, event);
    forget_timeline(&p->timeline, event);
    p->weight[event] = p->samples[event] = p->failed[event] = 0;
}
