#include "core/profile/fold.h"

#include <errno.h>

/* Marks who can go. */
static uint32_t mark_threads(struct profile *p) {
    const struct history *h = &p->history;
    uint64_t oldest = h->end ? h->second[h->first].second : 0;
    uint32_t marked = 0;
    for (uint32_t i = THREAD_OTHERS + 1; i < p->threads.count; i++) {
        struct thread *t = &p->threads.thread[i];
        t->free = t->ended && (!t->sampled || t->last_second < oldest);
        marked += t->free;
    }
    return marked;
}

static void unmark_threads(struct profile *p) {
    for (uint32_t i = 0; i < p->threads.count; i++)
        p->threads.thread[i].free = false;
}

/* The same sums, those of marked threads under the others. */
static int fold_tally(const struct profile *p, const struct tally *from, struct tally *to) {
    for (uint32_t i = 0; i < from->count; i++) {
        const struct tally_entry *e = &from->entry[i];
        bool gone = p->threads.thread[owner_thread(e->owner)].free;
        uint32_t owner = gone ? owner_of(THREAD_OTHERS, (uint32_t)owner_event(e->owner)) : e->owner;
        struct tally_entry *sum = tally_entry(to, e->what, owner, UINT32_MAX);
        if (!sum)
            return -ENOMEM;
        sum->weight += e->weight;
        sum->count += e->count;
        sum->failed += e->failed;
    }
    return 0;
}

static void fold_totals(struct profile *p) {
    struct thread *others = &p->threads.thread[THREAD_OTHERS];
    for (uint32_t i = THREAD_OTHERS + 1; i < p->threads.count; i++) {
        const struct thread *t = &p->threads.thread[i];
        for (int e = 0; t->free && e < PROFILE_EVENTS; e++) {
            others->event[e].weight += t->event[e].weight;
            others->event[e].count += t->event[e].count;
        }
    }
    for (uint32_t i = 0; i < p->by_method.count; i++) {
        const struct tally_entry *m = &p->by_method.entry[i];
        if (owner_thread(m->owner) == THREAD_OTHERS)
            thread_top_method(others, owner_event(m->owner), m->what, m->weight);
    }
}

void fold_threads(struct profile *p) {
    struct tally pair = {0}, method = {0};
    /* Once a second of the profile at most: the next attempt can only do better later. */
    if (!thread_table_crowded(&p->threads) || p->fold_tried == p->last_second + 1)
        return;
    p->fold_tried = p->last_second + 1;
    if (mark_threads(p) < p->threads.max / 16 || thread_table_reserve(&p->threads) != 0 ||
        fold_tally(p, &p->by_pair, &pair) != 0 || fold_tally(p, &p->by_method, &method) != 0) {
        unmark_threads(p);
        tally_free(&pair);
        tally_free(&method);
        return;
    }
    tally_free(&p->by_pair);
    tally_free(&p->by_method);
    p->by_pair = pair;
    p->by_method = method;
    fold_totals(p);
    thread_table_reclaim(&p->threads);
}
