/*
 * When an event was sampled: the times between an engine's start and its stop. A rate is over the
 * part of the window in which its event was sampled, because an event may be started later than the
 * profile, or stopped meanwhile.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_HISTORY_EVENT_RUNS_H
#define JTOP_PROFILE_HISTORY_EVENT_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#define EVENT_RUNS 64 /* kept; when there are more, the two oldest become one */

struct event_runs {
    struct event_run {
        uint64_t begin_ns, end_ns; /* on the clock of the samples */
    } run[EVENT_RUNS];             /* oldest first; they do not overlap */
    uint32_t count;
    bool open;          /* the last one goes on */
    uint64_t sample_ns; /* the oldest sample; 0: none. The first run began with it at the latest: a
                           viewer gets samples that are older than its first status */
};

/* The event has a sample of this time. */
static inline void event_runs_sample(struct event_runs *r, uint64_t time_ns) {
    if (!r->sample_ns || time_ns < r->sample_ns)
        r->sample_ns = time_ns;
}

/* The event is or is not sampled at this time, which is not before the last one. */
void event_runs_note(struct event_runs *r, uint64_t time_ns, bool runs);
/* Returns the time that lies in the runs between begin_ns and end_ns. An open run goes on until
 * now_ns. */
uint64_t event_runs_between(const struct event_runs *r, uint64_t begin_ns, uint64_t end_ns,
                            uint64_t now_ns);

#endif
