/*
 * A map of numbers out of a file: no choice of them makes it slow.
 *
 * Context: pure.
 */
#ifndef JTOP_IMPORT_JFR_JFR_MAP_H
#define JTOP_IMPORT_JFR_JFR_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct jfr_map {
    struct jfr_pair {
        uint64_t key, value;
    } * pair;
    uint32_t count, size; /* size: 0, or a power of two */
    uint64_t seed;
};

/* 0: it is not there. */
uint64_t jfr_map_get(const struct jfr_map *m, uint64_t key);
/* Neither is 0. -ENOMEM. */
int jfr_map_put(struct jfr_map *m, uint64_t key, uint64_t value);
/* The value it had; 0: it was not there. */
uint64_t jfr_map_take(struct jfr_map *m, uint64_t key);
void jfr_map_free(struct jfr_map *m);

#endif
