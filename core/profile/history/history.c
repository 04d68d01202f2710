#include "core/profile/history/history.h"

#include "core/base/grow.h"
#include "core/base/hash.h"
#include "core/profile/history/packed_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Late samples are mostly for the last few seconds, so these are not packed. */
#define LATE_SECONDS 4u
/* About this many entries are packed when a second begins. */
#define PACK_AT_ONCE 16384u

uint32_t history_find(const struct history *h, uint64_t second) {
    uint32_t low = h->first, high = h->end;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (h->second[mid].second < second)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void drop_entries(struct history *h, struct history_second *s) {
    if (h->dropped)
        h->dropped(h->arg, s);
    h->bytes -= (size_t)s->cap * sizeof *s->entry + s->packed_bytes;
    free(s->entry);
    free(s->packed);
    *s = (struct history_second){.second = s->second};
}

static void evict_oldest(struct history *h) {
    struct history_second *s = &h->second[h->first++];
    h->gone = s->second < UINT64_MAX ? s->second + 1 : s->second;
    drop_entries(h, s);
    if (h->first == h->end)
        h->first = h->end = 0;
}

/* Frees the unused part of an earlier second, which rarely grows again. */
static void trim(struct history *h, struct history_second *s) {
    if (!s->cap)
        return;
    struct history_entry *entry = realloc(s->entry, (s->count ? s->count : 1) * sizeof *entry);
    if (!entry)
        return;
    h->bytes -= (size_t)(s->cap - (s->count ? s->count : 1)) * sizeof *entry;
    s->cap = s->count ? s->count : 1;
    s->entry = entry;
}

static void pack(struct history *h, struct history_second *s) {
    size_t bytes;
    uint8_t *packed = packed_entries(s->entry, s->count, &bytes);
    if (!packed)
        return;
    h->bytes = h->bytes - (size_t)s->cap * sizeof *s->entry + bytes;
    free(s->entry);
    s->entry = NULL;
    s->cap = 0;
    s->packed = packed;
    s->packed_bytes = bytes;
}

/* Packs the oldest seconds that are not packed: at least one, then until that many entries are. */
static void pack_old(struct history *h, uint32_t entries) {
    uint32_t packed = 0;
    for (uint32_t i = h->first; i + LATE_SECONDS < h->end && packed < entries; i++) {
        if (!h->second[i].packed) {
            packed += h->second[i].count + 1;
            pack(h, &h->second[i]);
        }
    }
}

/* Between two seconds, the limit may be exceeded by an eighth. Else a second that changes often would
 * be packed and unpacked each time. */
static bool is_far_above(const struct history *h) {
    return h->bytes > h->limit + h->limit / 8;
}

/* The newest second is kept even if it alone exceeds the limit; it stops growing instead. */
static void evict(struct history *h) {
    uint64_t newest = h->second[h->end - 1].second;
    if (h->bytes > h->limit)
        pack_old(h, UINT32_MAX);
    while (h->first + 1 < h->end &&
           (newest - h->second[h->first].second >= h->span || h->bytes > h->limit))
        evict_oldest(h);
}

static int unpack(struct history *h, struct history_second *s) {
    if (!s->packed)
        return 0;
    struct history_entry *entry = malloc(((size_t)s->count + 1) * sizeof *entry);
    struct history_entry last = {.node = 0};
    const uint8_t *at = s->packed;
    if (!entry)
        return -ENOMEM;
    packed_entries_read(&at, &last, entry, s->count);
    h->bytes = h->bytes - s->packed_bytes + ((size_t)s->count + 1) * sizeof *entry;
    free(s->packed);
    s->packed = NULL;
    s->packed_bytes = 0;
    s->entry = entry;
    s->cap = s->count + 1;
    return 0;
}

/* Inserts an empty second at `at`. Before the array grows, the room of evicted seconds at its front
 * is used. */
static int insert_second(struct history *h, uint32_t at, uint64_t second) {
    if (h->first > 0 && h->first >= h->cap / 2) {
        memmove(h->second, h->second + h->first, (h->end - h->first) * sizeof *h->second);
        at -= h->first;
        h->end -= h->first;
        h->first = 0;
    }
    if (!GROW(h->second, h->end, h->cap))
        return -ENOMEM;
    memmove(h->second + at + 1, h->second + at, (h->end - at) * sizeof *h->second);
    h->second[at] = (struct history_second){.second = second};
    h->end++;
    return 0;
}

static int append(struct history *h, struct history_second *s, const struct history_entry *e) {
    uint32_t cap = s->cap;
    if (!GROW(s->entry, s->count, s->cap))
        return -ENOMEM;
    h->bytes += (size_t)(s->cap - cap) * sizeof *e;
    s->entry[s->count++] = *e;
    s->changed = ++h->changes;
    return 0;
}

static bool same(const struct history_entry *a, const struct history_entry *b) {
    return a->node == b->node && a->owner == b->owner && a->carrier == b->carrier &&
           a->state == b->state && a->failed == b->failed;
}

static int merge(struct history *h, struct history_second *s, const struct history_entry *e,
                 uint32_t *place) {
    uint64_t seed = index_seed(&h->index) + ((uint64_t)e->state << 1 | e->failed);
    uint32_t hash = (uint32_t)hash_pair(seed, (uint64_t)e->carrier << 32 | e->node, e->owner);
    uint32_t pos = hash, id = HISTORY_NONE;
    struct history_entry *have = NULL;
    while (!have && (id = index_next(&h->index, hash, &pos)) != INDEX_NONE)
        if (same(&s->entry[id], e))
            have = &s->entry[id];
    if (have && have->count <= UINT32_MAX - e->count) {
        have->weight += e->weight;
        have->count += e->count;
        s->changed = ++h->changes;
        *place = id;
        return 0;
    }
    if (h->first + 1 == h->end && h->bytes > h->limit)
        return 0;
    if (index_reserve(&h->index) != 0 || append(h, s, e) != 0)
        return -ENOMEM;
    *place = s->count - 1;
    /* If the entry found is full, it stays unchanged, and the index refers to the new entry
     * instead; otherwise the chains of equal hashes would grow. */
    if (have)
        index_replace(&h->index, hash, id, s->count - 1);
    else
        index_put(&h->index, hash, s->count - 1);
    return 0;
}

/* Finds the index of this second; adds the second if needed. */
static int open_second(struct history *h, uint64_t second, uint32_t *at) {
    *at = history_find(h, second);
    if (*at < h->end && h->second[*at].second == second)
        return 0;
    bool later = *at == h->end;
    uint32_t behind = h->end - *at;
    if (insert_second(h, *at, second) != 0)
        return -ENOMEM;
    *at = h->end - 1 - behind;
    if (later) {
        index_clear(&h->index);
        if (*at > h->first)
            trim(h, &h->second[*at - 1]);
        pack_old(h, PACK_AT_ONCE);
        evict(h);
        *at = h->end - 1;
    }
    return 0;
}

int history_add(struct history *h, uint64_t second, const struct history_entry *e,
                uint32_t *place) {
    if (h->end && is_far_above(h))
        evict(h);
    uint64_t newest = h->end ? h->second[h->end - 1].second : 0;
    uint32_t at, entry = HISTORY_NONE;
    int rc = 0;
    bool old = second < h->gone || (newest >= second && newest - second >= h->span);
    if (!h->end || !old) {
        rc = open_second(h, second, &at);
        if (rc != 0)
            return rc;
        struct history_second *s = &h->second[at];
        if (at + 1 == h->end) {
            rc = merge(h, s, e, &entry);
        } else {
            rc = unpack(h, s);
            if (rc == 0)
                rc = append(h, s, e);
            entry = s->count - 1;
        }
    }
    if (place)
        *place = entry;
    return rc;
}

void history_retract(struct history *h, uint64_t second, uint32_t place,
                     const struct history_entry *e, uint64_t *weight, uint32_t *count) {
    uint32_t at = history_find(h, second);
    struct history_entry *have = NULL;
    if (at < h->end && h->second[at].second == second && place < h->second[at].count &&
        unpack(h, &h->second[at]) == 0)
        have = &h->second[at].entry[place];
    if (!have || !same(have, e)) {
        *weight = *count = 0;
        return;
    }
    *weight = *weight < have->weight ? *weight : have->weight;
    *count = *count < have->count ? *count : have->count;
    have->weight -= *weight;
    have->count -= *count;
    h->second[at].changed = ++h->changes;
    if (is_far_above(h))
        pack_old(h, UINT32_MAX);
}

static bool changes(const struct history_second *s,
                    bool (*change)(void *arg, struct history_entry *e), void *arg) {
    struct history_cursor c;
    for (history_start(&c, s); history_next(&c);) {
        for (uint32_t i = 0; i < c.count; i++) {
            struct history_entry e = c.entry[i];
            if (change(arg, &e))
                return true;
        }
    }
    return false;
}

void history_change(struct history *h, bool (*change)(void *arg, struct history_entry *e),
                    void *arg) {
    for (uint32_t i = h->first; i < h->end; i++) {
        struct history_second *s = &h->second[i];
        bool packed = s->packed != NULL;
        if (packed && !changes(s, change, arg))
            continue;
        if (unpack(h, s) != 0) { /* the newest second is never packed */
            while (h->first <= i)
                evict_oldest(h);
            continue;
        }
        for (uint32_t j = 0; j < s->count; j++)
            (void)change(arg, &s->entry[j]);
        s->changed = ++h->changes;
        if (packed)
            pack(h, s);
    }
}

void history_start(struct history_cursor *c, const struct history_second *s) {
    c->entry = s->entry;
    c->count = 0;
    c->left = s->count;
    c->at = s->packed;
    c->last = (struct history_entry){.node = 0};
}

bool history_next(struct history_cursor *c) {
    if (!c->at) { /* all of them at once */
        c->count = c->left;
        c->left = 0;
        return c->count > 0;
    }
    c->count = c->left < HISTORY_BATCH ? c->left : HISTORY_BATCH;
    c->left -= c->count;
    c->entry = c->room;
    packed_entries_read(&c->at, &c->last, c->room, c->count);
    return c->count > 0;
}

void history_free(struct history *h) {
    h->dropped = NULL;
    while (h->end > h->first)
        evict_oldest(h);
    free(h->second);
    index_free(&h->index);
    *h = (struct history){.span = h->span, .limit = h->limit, .changes = h->changes};
}
