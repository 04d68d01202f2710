/*
 * Objects that were alive at the end, in files that tell their allocation in another event: which
 * of the allocations with the same thread, class and stack they are nobody can tell, so the first
 * ones are taken. Where they weigh less than the allocation, the rest of it is a weight of its own;
 * where they weigh more, other allocations there weigh less: the sum stays.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_LIVE_H
#define JTOP_IMPORT_JFR_JFR_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jfr_live {
    struct jfr_living {
        uint64_t key, weight;
        /* of a key's first: how many were taken, and what other allocations have to weigh less */
        size_t taken;
        uint64_t owed;
    } * object;
    size_t count, cap;
};

/* What tells allocations apart, as far as can be. */
uint64_t jfr_live_key(uint32_t tid, uint64_t virtual_id, const uint64_t *frame, uint32_t frames);

/* -ENOMEM. */
int jfr_live_add(struct jfr_live *l, uint64_t key, uint64_t weight);
/* Between the last to be added and the first to be taken. */
void jfr_live_settle(struct jfr_live *l);

/* Whether an allocation was alive at the end; *weight is changed as said above, and *rest is that of
 * its own. */
bool jfr_live_take(struct jfr_live *l, uint64_t key, uint64_t *weight, uint64_t *rest);
void jfr_live_free(struct jfr_live *l);

#endif
