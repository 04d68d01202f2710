#include "core/agent/lock/lock_wait.h"

#include "core/agent/process/reserve.h"
#include "core/base/hash.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define KEY_BYTES (LOCK_WAIT_ROWS * sizeof(_Atomic uint64_t[LOCK_WAIT_WAYS]))
#define WAIT_BYTES (LOCK_WAIT_ROWS * sizeof(struct lock_wait[LOCK_WAIT_WAYS]))

int lock_waits_open(struct lock_waits *w) {
    w->key = reserve(KEY_BYTES);
    w->wait = reserve(WAIT_BYTES);
    w->entries = 0;
    w->waited_ns = 0;
    if (w->key && w->wait)
        return 0;
    lock_waits_close(w);
    return -ENOMEM;
}

void lock_waits_close(struct lock_waits *w) {
    if (w->key)
        munmap(w->key, KEY_BYTES);
    if (w->wait)
        munmap(w->wait, WAIT_BYTES);
    w->entries = 0;
    w->key = NULL;
    w->wait = NULL;
}

static uint32_t row_of(uint64_t key) {
    return (uint32_t)(hash_word(key) >> 40) % LOCK_WAIT_ROWS;
}

/* The way of a key in its row; LOCK_WAIT_WAYS: it is not in the row. */
static uint32_t way_of(const struct lock_waits *w, uint32_t row, uint64_t key) {
    uint32_t i = 0;
    while (i < LOCK_WAIT_WAYS && atomic_load_explicit(&w->key[row][i], memory_order_relaxed) != key)
        i++;
    return i;
}

struct lock_wait *lock_waits_begin(struct lock_waits *w, uint64_t key) {
    uint32_t row = row_of(key);
    uint32_t way = way_of(w, row, key); /* the end of the last one was not seen */
    for (uint32_t i = 0; i < LOCK_WAIT_WAYS && way == LOCK_WAIT_WAYS; i++) {
        uint64_t free = 0;
        if (!atomic_compare_exchange_strong(&w->key[row][i], &free, key))
            continue;
        way = i;
        atomic_fetch_add_explicit(&w->entries, 1, memory_order_relaxed);
    }
    if (way == LOCK_WAIT_WAYS)
        return NULL;
    memset(&w->wait[row][way], 0, sizeof w->wait[row][way]);
    return &w->wait[row][way];
}

bool lock_waits_end(struct lock_waits *w, uint64_t key, struct lock_wait *out) {
    uint32_t row = row_of(key);
    uint32_t way = way_of(w, row, key);
    if (way == LOCK_WAIT_WAYS)
        return false;
    *out = w->wait[row][way];
    atomic_store_explicit(&w->key[row][way], 0, memory_order_release);
    atomic_fetch_sub_explicit(&w->entries, 1, memory_order_relaxed);
    return true;
}

uint64_t lock_waits_due(struct lock_waits *w, uint64_t interval_ns, uint64_t waited_ns) {
    uint64_t interval = interval_ns ? interval_ns : 1;
    uint64_t before = atomic_fetch_add_explicit(&w->waited_ns, waited_ns, memory_order_relaxed);
    return ((before + waited_ns) / interval - before / interval) * interval;
}
