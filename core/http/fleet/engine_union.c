#include "core/http/fleet/engine_union.h"

#include "core/event/event.h"

#include <errno.h>
#include <string.h>

/* Two engines of one event that differ in these flags sample different things. */
#define KIND_FLAGS (WIRE_ENGINE_ALL_USER | WIRE_ENGINE_ALL_KERNEL | WIRE_ENGINE_TARGET_CPU)

int engine_union_of(const struct wire_engine_request *engine, uint32_t engines,
                    struct engine_union *out, struct err *e) {
    *out = (struct engine_union){0};
    if (engines > WIRE_EVENTS)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "%u events were given, but only %d kinds of events exist", engines,
                           WIRE_EVENTS);
    for (uint32_t i = 0; i < engines; i++) {
        uint32_t event = engine[i].event;
        if (event >= WIRE_EVENTS || out->has[event])
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "unknown event, or the same event given twice");
        out->of[event] = engine[i];
        out->has[event] = true;
    }
    return 0;
}

uint32_t engine_union_list(const struct engine_union *s, struct wire_engine_request *out) {
    uint32_t n = 0;
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        if (s->has[event])
            out[n++] = s->of[event];
    return n;
}

bool engine_union_is_empty(const struct engine_union *s) {
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        if (s->has[event])
            return false;
    return true;
}

static bool same_kind(const struct wire_engine_request *a, const struct wire_engine_request *b) {
    return strncmp(a->name, b->name, sizeof a->name) == 0 &&
           strncmp(a->text, b->text, sizeof a->text) == 0 &&
           memcmp(&a->perf, &b->perf, sizeof a->perf) == 0 &&
           (a->flags & KIND_FLAGS) == (b->flags & KIND_FLAGS) &&
           (!(a->flags & WIRE_ENGINE_TARGET_CPU) || a->cpu == b->cpu);
}

static bool same(const struct wire_engine_request *a, const struct wire_engine_request *b) {
    return same_kind(a, b) && a->mechanism == b->mechanism && a->interval == b->interval &&
           a->flags == b->flags;
}

bool engine_union_same(const struct engine_union *a, const struct engine_union *b) {
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        if (a->has[event] != b->has[event] ||
            (a->has[event] && !same(&a->of[event], &b->of[event])))
            return false;
    return true;
}

/* The engine's interval, or its event's default. 0 means every single event, which is the
 * finest. */
static uint64_t interval(const struct wire_engine_request *r) {
    return r->interval ? r->interval : event_default_interval((enum wire_event)r->event);
}

/* Whether a sample with `flags` has at least as much information as one with `wanted`. */
static bool as_rich(uint32_t flags, uint32_t wanted) {
    return (flags & WIRE_ENGINE_LIVE || !(wanted & WIRE_ENGINE_LIVE)) &&
           (!(flags & WIRE_ENGINE_NO_FREE) || wanted & WIRE_ENGINE_NO_FREE);
}

bool engine_union_covers(const struct engine_union *s, const struct engine_union *want) {
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        const struct wire_engine_request *a = &s->of[event], *b = &want->of[event];
        if (want->has[event] && (!s->has[event] || !same_kind(a, b) || interval(a) > interval(b) ||
                                 !as_rich(a->flags, b->flags)))
            return false;
    }
    return true;
}

static void merge(struct wire_engine_request *to, const struct wire_engine_request *more) {
    if (interval(more) < interval(to))
        to->interval = more->interval;
    if (to->mechanism == WIRE_MECHANISM_AUTO)
        to->mechanism = more->mechanism;
    to->flags |= more->flags & WIRE_ENGINE_LIVE;
    to->flags &= more->flags | ~(uint32_t)WIRE_ENGINE_NO_FREE;
}

int engine_union_add(struct engine_union *to, const struct engine_union *more, struct err *e) {
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        if (to->has[event] && more->has[event] && !same_kind(&to->of[event], &more->of[event]))
            return err_set(
                e, EBUSY,
                "%.63s cannot be sampled while another client samples %.63s of this JVM: "
                "only one of the two can run; try again when the other has ended",
                more->of[event].name, to->of[event].name);
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        if (!more->has[event])
            continue;
        if (to->has[event])
            merge(&to->of[event], &more->of[event]);
        else
            to->of[event] = more->of[event];
        to->has[event] = true;
    }
    return 0;
}

void engine_union_take_back(struct engine_union *now, const struct engine_union *ours,
                            const struct engine_union *before) {
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        if (!now->has[event] || !ours->has[event] || !same(&now->of[event], &ours->of[event]))
            continue;
        now->has[event] = before->has[event];
        now->of[event] = before->of[event];
    }
}
