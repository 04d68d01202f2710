#include "core/profile/fold.h"

#include "core/profile/table/virtual_threads.h"

#include <errno.h>

/* A virtual thread that was not sampled for this long may lose its (thread, stack) pairs. */
#define IDLE_SECONDS 60u

/* Folding is worth the work only if it frees at least a sixteenth of the rows. */
static bool worth_it(uint32_t marked, uint32_t of) {
    return marked > 0 && marked >= of / 16;
}

/* Marks ended threads that can be folded. */
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

/* Marks virtual threads that can be folded: about half of them if rows are scarce; only those that
 * were idle for long if just the pairs are scarce. */
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

/* Returns the row that gets this thread's sums from now on. */
static uint32_t heir_of(const struct profile *p, uint32_t thread) {
    const struct thread *t = &p->threads.thread[thread];
    if (!t->free)
        return thread;
    return t->is_virtual ? p->threads.others_virtual : THREAD_OTHERS;
}

static uint32_t heir_of_owner(const struct profile *p, uint32_t owner) {
    return owner_of(heir_of(p, owner_thread(owner)), (uint32_t)owner_event(owner));
}

/* Copies the sums; those of marked threads go to their heirs. */
static int fold_tally(const struct profile *p, const struct tally *from, struct tally *to) {
    for (uint32_t i = 0; i < from->count; i++) {
        const struct tally_entry *e = &from->entry[i];
        struct tally_entry *sum = tally_entry(to, e->what, heir_of_owner(p, e->owner), UINT32_MAX);
        if (!sum)
            return -ENOMEM;
        sum->weight += e->weight;
        sum->count += e->count;
        sum->failed += e->failed;
    }
    return 0;
}

enum { FOLDED = 5 };

static void list_tallies(struct profile *p, struct tally *list[FOLDED]) {
    list[0] = &p->by_pair;
    list[1] = &p->by_carrier;
    list[2] = &p->by_method;
    list[3] = &p->by_state;
    list[4] = &p->by_carrier_state;
}

/* Folds all tallies, or none if there is no memory. */
static int fold_tallies(struct profile *p) {
    struct tally *old[FOLDED], folded[FOLDED] = {{0}};
    int rc = 0;
    list_tallies(p, old);
    for (int i = 0; i < FOLDED && rc == 0; i++)
        rc = fold_tally(p, old[i], &folded[i]);
    for (int i = 0; i < FOLDED; i++) {
        tally_free(rc == 0 ? old[i] : &folded[i]);
        if (rc == 0)
            *old[i] = folded[i];
    }
    return rc;
}

static bool fold_entry(void *arg, struct history_entry *e) {
    uint32_t heir = heir_of_owner(arg, e->owner);
    bool folds = heir != e->owner;
    e->owner = heir;
    return folds;
}

/* Call it after fold_tallies. Every thread has a sum, because thread_table_reserve has made it. */
static void fold_sums(struct profile *p) {
    struct thread_table *t = &p->threads;
    for (uint32_t e = 0; e < PROFILE_EVENTS; e++) {
        for (uint32_t i = THREAD_OTHERS + 1; i < t->count && t->sums[e] > 0; i++) {
            struct thread_sum *gone = &t->sum[e][i], *heir = &t->sum[e][heir_of(p, i)];
            if (gone == heir)
                continue;
            heir->weight += gone->weight;
            heir->count += gone->count;
        }
    }
    for (uint32_t i = 0; i < p->by_method.count; i++) {
        const struct tally_entry *m = &p->by_method.entry[i];
        uint32_t thread = owner_thread(m->owner), event = (uint32_t)owner_event(m->owner);
        if ((m->weight | m->count) && (thread == THREAD_OTHERS || thread == t->others_virtual))
            thread_top_method(&t->sum[event][thread], m->what, m->weight);
    }
}

static bool is_needed(const struct profile *p) {
    return thread_table_crowded(&p->threads) || virtual_threads_crowded(&p->threads) ||
           pairs_crowded(p);
}

void fold_threads(struct profile *p, uint64_t now) {
    /* At most once per second of the profile: another attempt can only succeed at a later time. */
    now = now > p->last_second ? now : p->last_second;
    if (!is_needed(p) || p->fold_tried == now + 1)
        return;
    p->fold_tried = now + 1;
    bool ended = mark_ended(p), virtuals = mark_virtual(p, now);
    if (!ended)
        unmark(p, false);
    if (!virtuals)
        unmark(p, true);
    if ((ended || virtuals) && thread_table_reserve(&p->threads) == 0 && fold_tallies(p) == 0) {
        /* The history may still contain virtual threads. The index of its newest second is not
         * updated: entries that it no longer finds are added again. */
        if (virtuals)
            history_change(&p->history, fold_entry, p);
        standing_forget_windows(p);
        fold_sums(p);
        lock_table_fold(p, heir_of);
        lock_history_fold(&p->lock_history, p, heir_of);
        thread_table_reclaim(&p->threads);
        return;
    }
    unmark(p, false);
    unmark(p, true);
}
