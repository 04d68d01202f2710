#include "core/profile/history/timeline.h"

#include "core/profile/profile_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of seconds with a slot, and some extra slots beyond the history: a pause may be
 * reported before the samples around it. */
#define SLOTS_MAX (UINT32_C(1) << 17)
#define SLOTS_AHEAD 8u
/* No real pause is longer. If a hostile JVM reports a longer one, only the last part of this length
 * is counted. */
#define PAUSE_SECONDS_MAX 600u

int timeline_open(struct timeline *t, uint64_t span) {
    t->slots = (span < SLOTS_MAX ? (uint32_t)span : SLOTS_MAX) + SLOTS_AHEAD;
    t->slot = calloc(t->slots, sizeof *t->slot);
    return t->slot ? 0 : -ENOMEM;
}

void timeline_free(struct timeline *t) {
    free(t->slot);
    *t = (struct timeline){0};
}

/* Returns the second's slot; NULL if a later second uses it. */
static struct timeline_second *slot_of(struct timeline *t, uint64_t second) {
    struct timeline_second *s = &t->slot[second % t->slots];
    if (s->second < second)
        *s = (struct timeline_second){.second = second};
    return s->second == second ? s : NULL;
}

void timeline_count(struct timeline *t, uint64_t second, uint32_t event, uint64_t weight,
                    uint64_t samples) {
    struct timeline_second *s = slot_of(t, second);
    if (!s)
        return;
    s->weight[event] += weight;
    s->samples[event] += samples;
}

void timeline_retract(struct timeline *t, uint64_t second, uint32_t event, uint64_t weight,
                      uint64_t samples) {
    struct timeline_second *s = &t->slot[second % t->slots];
    if (s->second != second)
        return;
    s->weight[event] -= weight < s->weight[event] ? weight : s->weight[event];
    s->samples[event] -= samples < s->samples[event] ? samples : s->samples[event];
}

void profile_pause(struct profile *p, uint64_t begin_ns, uint64_t end_ns, unsigned kind) {
    if (kind > 1 || end_ns <= begin_ns)
        return;
    uint64_t second = begin_ns / NS_PER_SECOND, last = (end_ns - 1) / NS_PER_SECOND;
    if (last - second >= PAUSE_SECONDS_MAX)
        second = last - PAUSE_SECONDS_MAX + 1;
    for (; second <= last; second++) {
        uint64_t from = second * NS_PER_SECOND, to = from + NS_PER_SECOND;
        struct timeline_second *s = slot_of(&p->timeline, second);
        from = from < begin_ns ? begin_ns : from;
        to = second == last ? end_ns : to;
        if (s)
            s->paused_ns[kind] += to - from;
    }
}

/* Whether the history still has this second, or can still get it. */
static bool is_kept(const struct profile *p, uint64_t second) {
    const struct history *h = &p->history;
    uint64_t newest = h->end ? h->second[h->end - 1].second : 0;
    return second >= h->gone && (second >= newest || newest - second < h->span);
}

void profile_timeline(const struct profile *p, int event, uint64_t from, uint32_t seconds,
                      struct profile_second *out) {
    const struct timeline *t = &p->timeline;
    bool known = event >= 0 && event < PROFILE_EVENTS;
    memset(out, 0, seconds * sizeof *out);
    for (uint32_t i = 0; i < seconds && from <= UINT64_MAX - i; i++) {
        const struct timeline_second *s = &t->slot[(from + i) % t->slots];
        if (s->second != from + i || !is_kept(p, from + i))
            continue;
        out[i].weight = known ? s->weight[event] : 0;
        out[i].samples = known ? s->samples[event] : 0;
        memcpy(out[i].paused_ns, s->paused_ns, sizeof out[i].paused_ns);
    }
}
