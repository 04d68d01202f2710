#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>

static struct snapshot_thread *row_of(const struct build *b, const uint32_t *row, uint32_t thread) {
    return row[thread] ? &b->s->threads[row[thread] - 1] : NULL;
}

static void add_states(const struct build *b, const struct tally *t, const uint32_t *row) {
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tally_entry *e = &t->entry[i];
        struct snapshot_thread *r = row_of(b, row, owner_thread(e->owner));
        if (!r || owner_event(e->owner) != b->q->event)
            continue;
        uint64_t weight = e->weight < r->state[0] ? e->weight : r->state[0];
        r->state[e->what] += weight;
        r->state[0] -= weight;
    }
}

/* Of no known state is what is left of the thread's weight. */
static void add_totals(const struct build *b, const uint32_t *row, bool carriers) {
    const struct profile *p = b->p;
    uint32_t event = (uint32_t)b->q->event;
    for (uint32_t i = 0; i < p->threads.count; i++) {
        const struct thread_sum *sum = thread_table_known_sum(&p->threads, i, event);
        struct snapshot_thread *r = row_of(b, row, i);
        if (r && sum)
            r->state[0] = sum->weight;
    }
    for (uint32_t i = 0; carriers && i < p->by_carrier.count; i++) {
        const struct tally_entry *e = &p->by_carrier.entry[i];
        struct snapshot_thread *r = row_of(b, row, owner_thread(e->owner));
        if (r && owner_event(e->owner) == b->q->event)
            r->state[0] += e->weight;
    }
}

int build_states(struct build *b) {
    bool carriers = build_by_carrier(b->q);
    uint32_t *row = calloc((size_t)b->p->threads.count + 1, sizeof *row);
    if (!row)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->s->thread_count; i++)
        row[b->row_thread[i]] = i + 1;
    add_totals(b, row, carriers);
    add_states(b, &b->p->by_state, row);
    if (carriers)
        add_states(b, &b->p->by_carrier_state, row);
    free(row);
    return 0;
}
