#include "core/decode/kept_records.h"

#include "core/base/grow.h"
#include "core/wire/record.h"

#include <stdlib.h>
#include <string.h>

void kept_records_init(struct kept_records *k, uint32_t records_max, size_t bytes_max) {
    *k = (struct kept_records){.bytes_max = bytes_max};
    id_map_init(&k->index, records_max);
}

void kept_records_clear(struct kept_records *k) {
    for (uint32_t i = 0; i < k->count; i++)
        free(k->slot[i].record);
    id_map_clear(&k->index);
    k->count = 0;
    k->oldest = 0;
    k->bytes = 0;
}

void kept_records_free(struct kept_records *k) {
    kept_records_clear(k);
    id_map_free(&k->index);
    free(k->slot);
    *k = (struct kept_records){0};
}

struct kept_record *kept_records_get(const struct kept_records *k, uint64_t key) {
    uint32_t i;
    return k->slot && id_map_get(&k->index, key, &i) ? &k->slot[i] : NULL;
}

static void empty(struct kept_records *k, struct kept_record *r) {
    if (!r->key)
        return;
    id_map_remove(&k->index, r->key);
    k->bytes -= r->bytes;
    free(r->record);
    *r = (struct kept_record){0};
}

void kept_records_remove(struct kept_records *k, uint64_t key) {
    struct kept_record *r = kept_records_get(k, key);
    if (r)
        empty(k, r);
}

static uint32_t step(struct kept_records *k) {
    uint32_t at = k->oldest < k->count ? k->oldest : 0;
    k->oldest = at + 1;
    return at;
}

/* A slot for a new key: an unused one up to the limit, otherwise the next in turn, which is
 * emptied. */
static struct kept_record *take_slot(struct kept_records *k) {
    uint32_t at;
    if (k->count < k->index.limit) {
        if (!GROW(k->slot, k->count, k->capacity) || !k->slot)
            return NULL;
        at = k->count++;
        k->slot[at] = (struct kept_record){0};
    } else {
        at = step(k);
    }
    empty(k, &k->slot[at]);
    return &k->slot[at];
}

static bool make_room(struct kept_records *k, size_t bytes) {
    if (bytes > k->bytes_max)
        return false;
    while (k->slot && k->bytes > k->bytes_max - bytes)
        empty(k, &k->slot[step(k)]);
    return true;
}

/* A copy that fits into its old memory stays there, so that a thread that is sampled all the time
 * needs no malloc. */
struct kept_record *kept_records_put(struct kept_records *k, uint64_t key, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    uint32_t bytes = wire_header_length(word);
    struct kept_record *r = kept_records_get(k, key);
    if (r && r->bytes < bytes) {
        empty(k, r);
        r = NULL;
    }
    if (!r) {
        r = make_room(k, bytes) ? take_slot(k) : NULL;
        uint64_t *copy = r ? malloc(bytes) : NULL;
        if (!r || !copy || id_map_put(&k->index, key, (uint32_t)(r - k->slot)) != 0) {
            free(copy);
            return NULL;
        }
        *r = (struct kept_record){.key = key, .record = copy, .bytes = bytes};
        k->bytes += bytes;
    }
    memcpy(r->record, record, bytes);
    r->written = 0;
    return r;
}
