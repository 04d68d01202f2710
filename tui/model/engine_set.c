#include "tui/model/engine_set.h"

#include <stdio.h>
#include <string.h>

void engine_set_init(struct engine_set *s, const struct wire_engine_request *engine,
                     uint32_t engines) {
    *s = (struct engine_set){.on[WIRE_EVENT_CPU] = engines == 0};
    for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
        struct wire_engine_request *r = &s->request[i];
        r->event = i;
        snprintf(r->name, sizeof r->name, "%s", event_kind_name[i]);
    }
    for (uint32_t i = 0; i < engines; i++)
        if (engine[i].event < WIRE_EVENTS)
            engine_set_add(s, &engine[i]);
}

void engine_set_add(struct engine_set *s, const struct wire_engine_request *request) {
    s->request[request->event] = *request;
    s->on[request->event] = true;
}

bool engine_set_has(const struct engine_set *s, int event) {
    if (event == EVENT_LIVE)
        return s->on[WIRE_EVENT_ALLOC] && s->request[WIRE_EVENT_ALLOC].flags & WIRE_ENGINE_LIVE;
    if (event == EVENT_LEAK)
        return s->on[WIRE_EVENT_NATIVEMEM] &&
               !(s->request[WIRE_EVENT_NATIVEMEM].flags & WIRE_ENGINE_NO_FREE);
    return event >= 0 && event < WIRE_EVENTS && s->on[event];
}

void engine_set_toggle(struct engine_set *s, int event) {
    bool on = !engine_set_has(s, event);
    if (event == EVENT_LIVE) {
        uint32_t *flags = &s->request[WIRE_EVENT_ALLOC].flags;
        *flags = on ? *flags | WIRE_ENGINE_LIVE : *flags & ~(uint32_t)WIRE_ENGINE_LIVE;
        s->on[WIRE_EVENT_ALLOC] |= on;
    } else if (event == EVENT_LEAK) {
        uint32_t *flags = &s->request[WIRE_EVENT_NATIVEMEM].flags;
        *flags = on ? *flags & ~(uint32_t)WIRE_ENGINE_NO_FREE : *flags | WIRE_ENGINE_NO_FREE;
        s->on[WIRE_EVENT_NATIVEMEM] |= on;
    } else if (event >= 0 && event < WIRE_EVENTS) {
        s->on[event] = on;
    }
}

/* The smallest and largest sensible interval, in the event's unit. from_zero: the agent takes 0 as
 * every single occurrence, not as its default; 0 is then the step below `least`. */
static const struct range {
    uint64_t least, most;
    bool from_zero;
} ranges[WIRE_EVENTS] = {
    [WIRE_EVENT_CPU] = {100000, 10000000000u, false},
    [WIRE_EVENT_WALL] = {1000000, 10000000000u, false},
    [WIRE_EVENT_ALLOC] = {1024, UINT64_C(1) << 40, false},
    [WIRE_EVENT_LOCK] = {1000, 10000000000u, false},
    [WIRE_EVENT_NATIVEMEM] = {1024, UINT64_C(1) << 40, true},
    [WIRE_EVENT_NATIVELOCK] = {1000, 10000000000u, true},
    [WIRE_EVENT_PERF] = {1, 10000000000u, false},
    [WIRE_EVENT_METHOD] = {1000, 10000000000u, true},
};

/* Returns the step after this one: 1, 2, 5, 10 and so on; for bytes 1K to 500K, then 1M and so
 * on. */
static uint64_t next_step(uint64_t step, unsigned *digit, bool bytes) {
    static const unsigned times[2][9] = {{1, 2, 5}, {1, 2, 5, 10, 20, 50, 100, 200, 500}};
    unsigned digits = bytes ? 9 : 3;
    uint64_t unit = step / times[bytes][*digit];
    if (++*digit == digits) {
        *digit = 0;
        unit *= bytes ? 1024 : 10;
    }
    return unit * times[bytes][*digit];
}

bool engine_set_step(struct engine_set *s, int event, uint64_t in_force, int by) {
    if (event < 0 || event >= WIRE_EVENTS)
        return false;
    const struct range *r = &ranges[event];
    bool bytes = !strcmp(event_kind_unit[event], "bytes");
    uint64_t below = r->from_zero ? 0 : r->least;
    unsigned digit = 0;
    uint64_t step = r->least;
    /* The loop ends, because each step is larger than the last one. */
    while (step < in_force && step < r->most) {
        below = step;
        step = next_step(step, &digit, bytes);
    }
    uint64_t above = step > in_force ? step : next_step(step, &digit, bytes);
    uint64_t to = by > 0 ? above : below;
    if (to > r->most || (by > 0 ? to <= in_force : to >= in_force))
        return false;
    s->request[event].interval = to;
    return true;
}

uint32_t engine_set_list(const struct engine_set *s, struct wire_engine_request out[WIRE_EVENTS]) {
    uint32_t n = 0;
    for (int i = 0; i < WIRE_EVENTS; i++)
        if (s->on[i])
            out[n++] = s->request[i];
    return n;
}
