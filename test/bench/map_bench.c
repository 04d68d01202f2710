/*
 * What a lookup by a number costs in the two tables there are, with the same hash: core/base/id_map,
 * which is on the path of every record, and uthash, which the others use. In turns, the best of each.
 */
#include "core/base/hash.h"
#include "core/base/id_map.h"

#define HASH_FUNCTION(key, bytes, value) (value) = (unsigned)hash_pair(seed, *(key), 0)
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <uthash.h>

enum { KEYS = 100000, LOOKUPS = 2000000, TURNS = 7 };

struct element {
    uint64_t key, value;
    UT_hash_handle hh;
};

static uint64_t seed;
static uint64_t key[KEYS];
static volatile uint64_t sink;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t key_at(uint32_t i) {
    return key[(uint64_t)i * 2654435761u % KEYS];
}

static double time_id_map(const struct id_map *m) {
    double began = seconds();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < LOOKUPS; i++)
        sum += id_map_value(m, key_at(i));
    sink = sum;
    return seconds() - began;
}

static double time_uthash(struct element *table) {
    double began = seconds();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        struct element *e;
        uint64_t k = key_at(i);
        HASH_FIND(hh, table, &k, sizeof k, e);
        sum += e ? e->value : 0;
    }
    sink = sum;
    return seconds() - began;
}

int main(void) {
    struct id_map m;
    struct element *table = NULL;
    double best[2] = {1e9, 1e9};
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* all of it in mallinfo2().uordblks */
    seed = hash_seed();
    for (uint32_t i = 0; i < KEYS; i++)
        key[i] = hash_more(seed, i);
    size_t before = mallinfo2().uordblks;
    id_map_init(&m, KEYS);
    for (uint32_t i = 0; i < KEYS; i++)
        if (id_map_put(&m, key[i], i))
            return 1;
    size_t middle = mallinfo2().uordblks;
    for (uint32_t i = 0; i < KEYS; i++) {
        struct element *e = malloc(sizeof *e);
        if (!e)
            return 1;
        e->key = key[i];
        e->value = i;
        HASH_ADD(hh, table, key, sizeof e->key, e);
    }
    size_t after = mallinfo2().uordblks;
    for (int turn = 0; turn < TURNS; turn++) {
        double a = time_id_map(&m), b = time_uthash(table);
        best[0] = a < best[0] ? a : best[0];
        best[1] = b < best[1] ? b : best[1];
    }
    printf("%d keys: id_map %.1f ns a lookup, %.1f MB; uthash %.1f ns, %.1f MB\n", KEYS,
           best[0] / LOOKUPS * 1e9, (double)(middle - before) / 1e6, best[1] / LOOKUPS * 1e9,
           (double)(after - middle) / 1e6);
    return 0;
}
