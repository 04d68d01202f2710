#include "core/profile/fold.h"

#include "core/profile/virtual_threads.h"

#include <errno.h>

/* A virtual thread not sampled for so long may give its (thread, stack) pairs away. */
#define IDLE_SECONDS 60u

/* Of a part that is to be made room in, so much is worth the work. */
static bool worth_it(uint32_t marked, uint32_t of) {
    return marked > 0 && marked >= of / 16;
}

/* Marks ended threads that can go. */
static bool mark_ended(struct profile *p) {
    const struct history *h = &p->history;
    uint64_t oldest = h->end ? h->second[h->first].second : 0;
    uint32_t marked = 0;
    if (!thread_table_crowded(&p->threads))
        return false;
    for (uint32_t i = THREAD_OTHERS + 1; i < p->threads.count; i++) {
        struct thread *t = &p->threads.thread[i];
        t->free = !t->is_virtual && t->ended && (!t->sampled || t->last_second < oldest);
        marked += t->free;
    }
    return worth_it(marked, p->threads.max);
}

static bool pairs_crowded(const struct profile *p) {
    return p->by_pair.count >= p->limits.pairs - p->limits.pairs / 8 && p->threads.virtuals > 0;
}

/* Marks virtual threads that can go: half of them where rows are scarce, those long idle where it
 * is only their pairs. */
static bool mark_virtual(struct profile *p, uint64_t now) {
    struct thread_table *t = &p->threads;
    if (virtual_threads_crowded(t))
        return virtual_threads_mark(t, t->virtuals - t->max_virtual / 2, UINT64_MAX) > 0;
    if (!pairs_crowded(p) || now < IDLE_SECONDS)
        return false;
    return worth_it(virtual_threads_mark(t, t->virtuals, now - IDLE_SECONDS), t->virtuals);
}

static void unmark(struct profile *p, bool virtuals) {
    for (uint32_t i = 0; i < p->threads.count; i++)
        if (p->threads.thread[i].is_virtual == virtuals)
            p->threads.thread[i].free = false;
}

/* Who has the sums of this owner from now on. */
static uint32_t heir_of(const struct profile *p, uint32_t owner) {
    const struct thread *t = &p->threads.thread[owner_thread(owner)];
    uint32_t others = t->is_virtual ? p->threads.others_virtual : THREAD_OTHERS;
    return t->free ? owner_of(others, (uint32_t)owner_event(owner)) : owner;
}

/* The same sums, those of marked threads under their heirs. */
static int fold_tally(const struct profile *p, const struct tally *from, struct tally *to) {
    for (uint32_t i = 0; i < from->count; i++) {
        const struct tally_entry *e = &from->entry[i];
        struct tally_entry *sum = tally_entry(to, e->what, heir_of(p, e->owner), UINT32_MAX);
        if (!sum)
            return -ENOMEM;
        sum->weight += e->weight;
        sum->count += e->count;
        sum->failed += e->failed;
    }
    return 0;
}

static void replace_tally(struct tally *t, struct tally *by) {
    tally_free(t);
    *t = *by;
    *by = (struct tally){0};
}

/* Virtual threads go while the history still has them. The newest second's index is left as it is:
 * entries it no longer finds are made once more. */
static void fold_history(struct profile *p) {
    struct history *h = &p->history;
    for (uint32_t i = h->first; i < h->end; i++)
        for (uint32_t j = 0; j < h->second[i].count; j++)
            h->second[i].entry[j].owner = heir_of(p, h->second[i].entry[j].owner);
}

static void fold_totals(struct profile *p) {
    struct thread_table *t = &p->threads;
    for (uint32_t i = THREAD_OTHERS + 1; i < t->count; i++) {
        const struct thread *gone = &t->thread[i];
        struct thread *heir = &t->thread[gone->is_virtual ? t->others_virtual : THREAD_OTHERS];
        for (int e = 0; gone->free && e < PROFILE_EVENTS; e++) {
            heir->event[e].weight += gone->event[e].weight;
            heir->event[e].count += gone->event[e].count;
        }
    }
    for (uint32_t i = 0; i < p->by_method.count; i++) {
        const struct tally_entry *m = &p->by_method.entry[i];
        uint32_t thread = owner_thread(m->owner);
        if (thread == THREAD_OTHERS || thread == t->others_virtual)
            thread_top_method(&t->thread[thread], owner_event(m->owner), m->what, m->weight);
    }
}

static bool is_needed(const struct profile *p) {
    return thread_table_crowded(&p->threads) || virtual_threads_crowded(&p->threads) ||
           pairs_crowded(p);
}

void fold_threads(struct profile *p, uint64_t now) {
    struct tally pair = {0}, carrier = {0}, method = {0};
    /* Once a second of the profile at most: the next attempt can only do better later. */
    now = now > p->last_second ? now : p->last_second;
    if (!is_needed(p) || p->fold_tried == now + 1)
        return;
    p->fold_tried = now + 1;
    bool ended = mark_ended(p), virtuals = mark_virtual(p, now);
    if (!ended)
        unmark(p, false);
    if (!virtuals)
        unmark(p, true);
    bool fold = (ended || virtuals) && thread_table_reserve(&p->threads) == 0 &&
                fold_tally(p, &p->by_pair, &pair) == 0 &&
                fold_tally(p, &p->by_carrier, &carrier) == 0 &&
                fold_tally(p, &p->by_method, &method) == 0;
    if (fold) {
        replace_tally(&p->by_pair, &pair);
        replace_tally(&p->by_carrier, &carrier);
        replace_tally(&p->by_method, &method);
        if (virtuals)
            fold_history(p);
        fold_totals(p);
        thread_table_reclaim(&p->threads);
        return;
    }
    unmark(p, false);
    unmark(p, true);
    tally_free(&pair);
    tally_free(&carrier);
    tally_free(&method);
}
