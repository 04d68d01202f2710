#include "core/session/session_state.h"
#include "core/wire/wire_names.h"

#include "core/base/clock.h"
#include "core/session/agent_link.h"

#include <errno.h>
#include <string.h>

#define RELINK_MS 3000
#define RECENT_NS UINT64_C(5000000000)

void drain_use_mapping(struct session *s, struct mapping m) {
    struct drain *d = &s->drain;
    session_lock(s);
    s->mapping = m;
    session_unlock(s);
    thread_filter_use_bits(&s->filter, mapping_threads(&m));
    ring_reader_init(&d->ring, m.wire, m.ring_bytes);
    control_init(&d->control, m.wire);
    d->linked = true;
    d->silent = false;
    d->beat_ns = 0; /* attaching took its time: no pause of ours */
    drain_beat(s, clock_now_ns());
}

void drain_tell_resumed(struct session *s) {
    struct drain *d = &s->drain;
    uint64_t gap = d->resume_gap_ns;
    uint64_t lease = (uint64_t)WIRE_LEASE_MS * 1000000u;
    uint64_t missed = gap > lease ? gap - lease : 0;
    d->resume_gap_ns = 0;
    session_lock(s);
    s->status.missed_ns += missed;
    session_unlock(s);
    if (missed)
        session_set_message(s,
                            "this process was stopped for %.1f s: sampling resumed, about %.1f s "
                            "are missing",
                            (double)gap / 1e9, (double)missed / 1e9);
    else
        session_set_message(s, "the agent had let go of the JVM: sampling resumed");
}

static enum wire_walk walk_of(const char *walker) {
    for (int i = 0; i < WIRE_WALKS; i++)
        if (strcmp(walker, wire_walk_name[i]) == 0)
            return (enum wire_walk)i;
    return WIRE_WALK_VM;
}

/* What an agent sampled by its own choice is ours from here on. */
static void keep_choice(struct session *s) {
    struct drain *d = &s->drain;
    struct session_options *o = &s->options;
    session_lock(s);
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        const struct wire_engine_status *engine = &d->report.engine[event];
        uint32_t i = 0;
        while (i < o->engines && o->engine[i].event != event)
            i++;
        if (engine->mechanism == WIRE_MECHANISM_AUTO || i == WIRE_EVENTS)
            continue;
        if (i == o->engines)
            o->engine[o->engines++] = (struct wire_engine_request){.event = event};
        o->engine[i].interval = engine->interval;
        memcpy(o->engine[i].name, engine->name, sizeof engine->name);
    }
    session_unlock(s);
    o->walk = walk_of(d->report.walker);
    o->precise = o->precise || d->report.recompiled > 0;
}

/* Reads what the old agent left behind, adds its counters up, lets go of its mapping. */
static void close_chapter(struct session *s) {
    struct drain *d = &s->drain;
    drain_read(s, true);
    drain_publish(s);
    if (s->adopted && d->report.engine_runs)
        keep_choice(s);
    d->before.dropped += d->report.dropped;
    d->before.agent_ns += d->report.agent_ns;
    d->before.recompiled += d->report.recompiled;
    d->before.recompile_ns += d->report.recompile_ns;
    d->before.windows += d->report.windows;
    for (int i = 0; i < WIRE_FAILURES; i++)
        d->before.failed[i] += d->report.failed[i];
    d->report = (struct agent_report){0};
    d->linked = false;
    drain_end_unwind(s);
    d->ring = (struct ring_reader){0};
    session_lock(s);
    decoder_new_stream(d->decoder);
    thread_filter_use_bits(&s->filter, NULL);
    struct mapping old = s->mapping;
    s->mapping = (struct mapping){0};
    session_unlock(s);
    mapping_close(&old);
}

int drain_relink(struct session *s, uint64_t now, struct err *e) {
    struct drain *d = &s->drain;
    struct agent_link link;
    struct err why;
    bool offer = false;
    /* The pause may also have come after this turn's heartbeat. */
    uint64_t since_beat = clock_now_ns() - d->beat_ns;
    uint64_t gap = now - d->stall_end < RECENT_NS ? d->stall_ns : 1;
    if (since_beat > gap)
        gap = since_beat;
    close_chapter(s);
    if (!s->library[0])
        return err_exit_as(e, ERR_EXIT_PROFILER, ECONNRESET,
                           "the agent has let go of JVM %d, and there is no way to attach again",
                           (int)s->jvm.pid);
    int result = drain_offer_broker(s, &offer, &why);
    if (result == 0)
        result = agent_link_open(&s->jvm, s->library, s->options.library != NULL, offer,
                                 s->options.ring_bytes, RELINK_MS, &link, &why);
    if (result != 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, -result,
                           "sampling ended after a pause of %.1f s of this process: %.400s",
                           (double)gap / 1e9, why.message);
    drain_use_mapping(s, link.mapping);
    (void)drain_use_broker(s, link.broker, NULL);
    d->relink_ns = now;
    d->resume_gap_ns = gap;
    s->adopted = false;
    return 0;
}
