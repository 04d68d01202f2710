/*
 * The engines that run for profiles of other processes, in addition to the session's own. A viewer
 * that takes a profile of its own (share/join_apart.c) asks for its events, and they are lent to it
 * until it leaves. An event that already runs is shared if it runs as the viewer needs it.
 *
 *      own       cpu
 *      lent      cpu, alloc     ▶ runs: cpu, alloc
 *
 * Context: pure; in a session, with its lock held.
 */
#ifndef JTOP_SESSION_LENT_H
#define JTOP_SESSION_LENT_H

#include "core/base/err.h"
#include "core/wire/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LENT_MAX 9u /* one for each viewer, and one that was taken over */

struct lent {
    struct lent_loan {
        const void *to;    /* the viewer; NULL: not known, because the process that lent them has
                              ended */
        uint64_t until_ns; /* CLOCK_MONOTONIC; 0: until lent_end */
        uint32_t engines;
        struct wire_engine_request engine[WIRE_EVENTS];
    } loan[LENT_MAX];
    uint32_t loans;
};

/* Whether samples of `have` are exactly those that `want` asks for, apart from live objects and
 * leaks, which are left out where they are not wanted. If not, `why` is what differs, as text:
 * "cpu is sampled every 1ms there, and is to be sampled every 10ms here". */
bool lent_fits(const struct wire_engine_request *have, const struct wire_engine_request *want,
               char *why, size_t size);

/* Lends these engines, in place of what this viewer had. -EBUSY: an engine of `own`, or a lent one,
 * samples the same event in another way; -EUSERS: there is no room. */
int lent_begin(struct lent *l, const void *to, const struct wire_engine_request *own, uint32_t owns,
               const struct wire_engine_request *engine, uint32_t engines, struct err *e);

/* Keeps engines that another process had lent, until a viewer asks for them again; until_ns as in
 * struct lent_loan. With 0 they are kept to the end, for viewers that do not ask. */
void lent_inherit(struct lent *l, const struct wire_engine_request *engine, uint32_t engines,
                  uint64_t until_ns);

/* The set of the events that lent_inherit keeps to the end. */
uint32_t lent_kept(const struct lent *l);
/* No viewer is there that could need them: lent_expire removes them. */
void lent_drop_kept(struct lent *l);

/* The viewer needs its engines no longer: lent_expire removes them. */
void lent_end(struct lent *l, const void *to);

/* Removes what has ended. True: other engines have to run now. */
bool lent_expire(struct lent *l, uint64_t now_ns, const struct wire_engine_request *own,
                 uint32_t owns);

/* -EBUSY: one of these engines, which the session is to sample from now on, cannot run together
 * with what is lent. */
int lent_check(const struct lent *l, const struct wire_engine_request *engine, uint32_t engines,
               struct err *e);

/* Returns the lent request of this event; NULL: none. */
const struct wire_engine_request *lent_find(const struct lent *l, uint32_t event);

/* Lists all engines that have to run, own ones first; `*only` is the set of those that are only
 * lent. Returns their number. */
uint32_t lent_list(const struct lent *l, const struct wire_engine_request *own, uint32_t owns,
                   struct wire_engine_request out[WIRE_EVENTS], uint32_t *only);

#endif
