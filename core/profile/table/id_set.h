/*
 * Counts different ids, up to a limit.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_ID_SET_H
#define JTOP_PROFILE_TABLE_ID_SET_H

#include "core/profile/table/index.h"

#include <stdint.h>

/* All zeroes: the empty set. */
struct id_set {
    uint64_t *id;
    uint32_t count, cap;
    struct index index;
};

/* 0: the id is in the set, or the set already has `max` other ids. -ENOMEM. */
int id_set_add(struct id_set *s, uint64_t id, uint32_t max);
void id_set_free(struct id_set *s);

#endif
