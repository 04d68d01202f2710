#include "core/profile/history/event_runs.h"

#include <string.h>

static void begin(struct event_runs *r, uint64_t time_ns) {
    if (r->count == EVENT_RUNS) {
        r->run[1].begin_ns = r->run[0].begin_ns;
        memmove(&r->run[0], &r->run[1], (EVENT_RUNS - 1) * sizeof r->run[0]);
        r->count--;
    }
    r->run[r->count++] = (struct event_run){time_ns, time_ns};
    r->open = true;
}

void event_runs_note(struct event_runs *r, uint64_t time_ns, bool runs) {
    struct event_run *last = r->count ? &r->run[r->count - 1] : NULL;
    if (last && time_ns < last->end_ns)
        time_ns = last->end_ns; /* a clock that goes back, or a hostile recording */
    if (last && r->open)
        last->end_ns = time_ns;
    else if (runs)
        begin(r, time_ns);
    r->open = runs;
}

uint64_t event_runs_between(const struct event_runs *r, uint64_t begin_ns, uint64_t end_ns,
                            uint64_t now_ns) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t from = r->run[i].begin_ns, to = r->run[i].end_ns;
        if (i == 0 && r->sample_ns && r->sample_ns < from)
            from = r->sample_ns;
        if (r->open && i + 1 == r->count && now_ns > to)
            to = now_ns;
        from = from > begin_ns ? from : begin_ns;
        to = to < end_ns ? to : end_ns;
        sum += to > from ? to - from : 0;
    }
    return sum;
}
