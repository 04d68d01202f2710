#include "core/profile/history/lock_history.h"

#include "core/base/grow.h"
#include "core/profile/table/lock_table.h"

#include <errno.h>
#include <stdbool.h>

static void drop_oldest_second(struct lock_history *h) {
    uint64_t oldest = h->entry[h->first].second;
    h->gone = oldest >= h->gone ? oldest + 1 : h->gone;
    while (h->first < h->end && h->entry[h->first].second < h->gone)
        h->first++;
    if (h->first == h->end)
        h->first = h->end = 0;
}

static void open_second(struct lock_history *h, uint64_t second) {
    h->newest = second;
    h->newest_count = 0;
    index_clear(&h->index);
    while (h->first < h->end && second - h->entry[h->first].second >= h->span)
        drop_oldest_second(h);
}

static bool same(const struct lock_entry *a, const struct lock_entry *b) {
    return a->lock_id == b->lock_id && a->class == b->class && a->flags == b->flags &&
           a->owner == b->owner && a->node == b->node && a->waiter == b->waiter &&
           a->carrier == b->carrier && a->stack == b->stack && a->next_class == b->next_class &&
           a->other == b->other;
}

static uint32_t hash_of(struct lock_history *h, const struct lock_entry *e) {
    uint64_t x = index_seed(&h->index);
    x = hash_pair(x, e->lock_id, (uint64_t)e->class << 32 | e->flags);
    x = hash_pair(x, (uint64_t)e->owner << 32 | e->node, (uint64_t)e->waiter << 32 | e->carrier);
    x = hash_pair(x, e->stack, (uint64_t)e->next_class << 32 | e->other);
    return (uint32_t)x;
}

static bool merge(struct lock_history *h, uint32_t hash, const struct lock_entry *e) {
    uint32_t pos = hash, id;
    while ((id = index_next(&h->index, hash, &pos)) != INDEX_NONE) {
        struct lock_entry *have = &h->entry[id];
        if (!same(have, e) || have->waits > UINT32_MAX - e->waits)
            continue;
        have->waits += e->waits;
        have->waited_ns += e->waited_ns;
        have->deadlock_ns += e->deadlock_ns;
        have->longest_ns = e->longest_ns > have->longest_ns ? e->longest_ns : have->longest_ns;
        return true;
    }
    return false;
}

/* Makes room for one more entry. 0; -ENOSPC: the newest second alone fills the history; -ENOMEM. */
static int make_room(struct lock_history *h) {
    if (h->end - h->first >= h->max) {
        if (h->entry[h->first].second >= h->newest)
            return -ENOSPC;
        drop_oldest_second(h);
    }
    if (h->end < h->cap)
        return 0;
    if (h->first == 0 || h->first < h->cap / 4)
        return GROW(h->entry, h->end, h->cap) ? 0 : -ENOMEM;
    /* Entries that the index no longer finds are added again. */
    index_clear(&h->index);
    memmove(h->entry, h->entry + h->first, (h->end - h->first) * sizeof *h->entry);
    h->end -= h->first;
    h->first = 0;
    return 0;
}

int lock_history_add(struct lock_history *h, const struct lock_entry *add) {
    struct lock_entry e = *add;
    if (e.second < h->gone || (h->newest >= e.second && h->newest - e.second >= h->span))
        return 0;
    if (e.second > h->newest)
        open_second(h, e.second);
    bool newest = e.second == h->newest;
    if (h->newest_count >= h->max / 4 * 3) {
        e.lock_id = 0;
        e.node = CALL_ROOT;
    }
    uint32_t hash = hash_of(h, &e);
    if (newest && merge(h, hash, &e))
        return 0;
    int rc = make_room(h);
    if (rc == 0 && newest)
        rc = index_reserve(&h->index);
    if (rc != 0)
        return rc == -ENOSPC ? 0 : rc;
    if (newest) {
        index_put(&h->index, hash, h->end);
        h->newest_count++;
    }
    h->entry[h->end++] = e;
    return 0;
}

void lock_history_fold(struct lock_history *h, const struct profile *p,
                       uint32_t (*heir)(const struct profile *p, uint32_t thread)) {
    for (uint32_t i = h->first; i < h->end; i++) {
        struct lock_entry *e = &h->entry[i];
        e->waiter = heir(p, e->waiter);
        e->carrier = heir(p, e->carrier);
        e->owner = e->owner == LOCK_OWNER_NONE ? e->owner : heir(p, e->owner);
        e->other = e->other == LOCK_OWNER_NONE ? e->other : heir(p, e->other);
    }
    index_clear(&h->index); /* the entries' hashes have changed */
}

void lock_history_free(struct lock_history *h) {
    free(h->entry);
    index_free(&h->index);
    *h = (struct lock_history){0};
}
