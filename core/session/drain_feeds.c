/* Those who look on: what the drain thread does for them. */
#include "core/session/session_state.h"

#include "core/session/feed.h"
#include "core/session/past.h"
#include "core/session/share_socket.h"

#include <errno.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

int drain_add_feed(struct session *s, struct feed *f) {
    session_lock(s);
    bool room = s->lookers < DECODER_FEEDS && !s->quit;
    if (room) {
        s->arriving[s->arrivals++] = f;
        s->lookers++;
    }
    session_unlock(s);
    session_wake_drain(s);
    return room ? 0 : -EUSERS;
}

static void tell_status(struct session *s, struct feed *only) {
    struct decoder *d = s->drain.decoder;
    struct share_status t;
    memset(&t, 0, sizeof t); /* it leaves the process: no stray bytes */
    session_status(s, &t.status);
    session_lock(s);
    const struct session_options *o = &s->options;
    t.engines = o->engines;
    memcpy(t.engine, o->engine, o->engines * sizeof o->engine[0]);
    t.walk = o->walk;
    t.depth = o->depth;
    t.signal = o->signal;
    t.wall_signal = o->wall_signal;
    t.precise = o->precise;
    t.tag_cpu = o->tag_cpu;
    t.tag_sched = o->tag_sched;
    session_unlock(s);
    for (uint32_t i = 0; i < DECODER_FEEDS; i++)
        if (d->feed[i] && (!only || d->feed[i] == only))
            feed_put(d->feed[i], SHARE_STATUS, &t, sizeof t);
}

static void let_go(struct session *s, uint32_t slot) {
    feed_release(s->drain.decoder->feed[slot]);
    s->drain.decoder->feed[slot] = NULL;
    session_lock(s);
    s->lookers--;
    session_unlock(s);
}

/* There is a slot: lookers are no more than these. */
static void take_in(struct session *s, struct feed *f) {
    struct decoder *d = s->drain.decoder;
    uint32_t slot = 0;
    while (d->feed[slot])
        slot++;
    drain_publish(s);
    int rc = feed_wants_past(f) ? past_write(d, &s->lock, f) : 0;
    if (rc == 0)
        rc = decoder_restate_feed(d, slot, f);
    d->feed[slot] = f;
    if (rc != 0) {
        let_go(s, slot);
        return;
    }
    feed_begun(f);
    tell_status(s, f);
}

static void take_arrivals(struct session *s) {
    struct feed *come[DECODER_FEEDS];
    session_lock(s);
    uint32_t n = s->arrivals;
    for (uint32_t i = 0; i < n; i++)
        come[i] = s->arriving[i];
    s->arrivals = 0;
    session_unlock(s);
    for (uint32_t i = 0; i < n; i++)
        take_in(s, come[i]);
}

void drain_feed(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    bool any = false, sent = false;
    session_lock(s);
    uint32_t arrivals = s->arrivals, lookers = s->lookers;
    struct share *share = s->share;
    session_unlock(s);
    if (!lookers)
        return;
    for (uint32_t i = 0; i < DECODER_FEEDS; i++) {
        struct feed *f = d->decoder->feed[i];
        if (!f)
            continue;
        sent |= feed_flush(f);
        any = true;
        if (feed_closed(f))
            let_go(s, i);
    }
    enum session_phase phase = drain_phase(s);
    if (any && (phase != d->told_phase || now - d->told_ns > SECOND_NS)) {
        d->told_ns = now;
        d->told_phase = phase;
        tell_status(s, NULL);
        sent = true;
    }
    if (arrivals)
        take_arrivals(s);
    if (arrivals || sent)
        share_wake(share);
}

void drain_end_feeds(struct session *s) {
    struct decoder *d = s->drain.decoder;
    take_arrivals(s);
    tell_status(s, NULL);
    for (uint32_t i = 0; i < DECODER_FEEDS; i++) {
        if (!d->feed[i])
            continue;
        feed_flush(d->feed[i]);
        let_go(s, i);
    }
}
