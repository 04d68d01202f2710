#include "core/http/push/push_window.h"

#define NS 1000000000u
#define CLOCK_SET_S 2 /* a smaller difference is rounding of the two clocks */

static int64_t offset_of(uint64_t now_ns, uint64_t day_ns) {
    int64_t ns = (int64_t)(day_ns - now_ns);
    return (ns + (int64_t)NS / 2) / (int64_t)NS;
}

/* The first multiple of `every` in the time of day after `from`. */
static uint64_t boundary(const struct window *w, uint64_t from) {
    int64_t day = (int64_t)from + w->offset, every = (int64_t)w->every;
    int64_t into = day % every;
    if (into < 0)
        into += every;
    return from + (uint64_t)(every - into);
}

void window_begin(struct window *w, uint32_t every, uint64_t from, uint64_t now_ns,
                  uint64_t day_ns) {
    *w = (struct window){.every = every ? every : 1, .from = from, .first = true};
    w->offset = offset_of(now_ns, day_ns);
    w->to = boundary(w, from);
}

bool window_due(const struct window *w, uint64_t now_ns, uint64_t newest) {
    uint64_t late = newest >= w->to ? WINDOW_LATE_MIN_S : WINDOW_LATE_MAX_S;
    return now_ns / NS >= w->to + late;
}

bool window_cut(struct window *w, uint64_t last) {
    if (last < w->from)
        return false;
    w->to = last + 1;
    return true;
}

void window_next(struct window *w, uint64_t now_ns, uint64_t day_ns) {
    int64_t offset = offset_of(now_ns, day_ns), off = offset - w->offset;
    if (off >= CLOCK_SET_S || off <= -CLOCK_SET_S)
        w->offset = offset;
    w->first = false;
    w->from = w->to;
    w->to = boundary(w, w->from);
}

static uint64_t day_ns_of(const struct window *w, uint64_t second) {
    int64_t day = (int64_t)second + w->offset;
    return day > 0 ? (uint64_t)day * NS : 0;
}

uint64_t window_from_ns(const struct window *w) {
    return day_ns_of(w, w->from);
}

uint64_t window_to_ns(const struct window *w) {
    return day_ns_of(w, w->to);
}
