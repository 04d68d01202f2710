/*
 * Objects that were alive at the end, in files that report their allocation in another event. The
 * file does not show which of the allocations with the same thread, class and stack they belong to,
 * so the first ones are taken. If a live object weighs less than the allocation, the rest of the
 * allocation becomes a separate weight. If it weighs more, other allocations with the same key
 * weigh less, so the sum is unchanged.
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
        /* in the first object of a key: how many of the key's objects were taken, and the weight
         * still to be subtracted from other allocations */
        size_t taken;
        uint64_t owed;
    } * object;
    size_t count, cap;
};

/* Returns a key that tells allocations apart as far as possible. */
uint64_t jfr_live_key(uint32_t tid, uint64_t virtual_id, const uint64_t *frame, uint32_t frames);

/* 0 or -ENOMEM. */
int jfr_live_add(struct jfr_live *l, uint64_t key, uint64_t weight);
/* Call it after the last jfr_live_add and before the first jfr_live_take. */
void jfr_live_settle(struct jfr_live *l);

/* Reports whether an allocation was alive at the end. *weight is changed as described above; *rest
 * is the separate weight. */
bool jfr_live_take(struct jfr_live *l, uint64_t key, uint64_t *weight, uint64_t *rest);
void jfr_live_free(struct jfr_live *l);

#endif
