/* The drain thread's work for viewers. */
#include "core/session/session_state.h"

#include "core/base/clock.h"
#include "core/decode/past.h"
#include "core/record/feed.h"
#include "core/session/share/share_socket.h"

#include <errno.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define CATCH_UP_MS 500
#define END_NS SECOND_NS /* for viewers that are still receiving the past */

int drain_add_feed(struct session *s, struct feed *f) {
    session_lock(s);
    int result = s->quit ? -EAGAIN : s->lookers < DECODER_FEEDS ? 0 : -EUSERS;
    if (result == 0) {
        s->arriving[s->arrivals++] = f;
        s->lookers++;
    }
    session_unlock(s);
    session_wake_drain(s);
    return result;
}

static void tell_status(struct session *s, struct feed *only) {
    struct decoder *d = s->drain.decoder;
    struct share_status t;
    memset(&t, 0, sizeof t); /* it leaves the process, so it must not contain stray bytes */
    session_whole_status(s, &t.status);
    session_lock(s);
    const struct session_options *o = &s->options;
    t.engines = session_wanted(s, t.engine, &t.lent);
    /* To a screen, the events of the process before us are the session's, and ours are not. */
    uint32_t kept = lent_kept(&s->lent);
    if (kept)
        t.lent = (t.lent | d->only) & ~kept;
    t.viewers = s->lookers;
    t.limit_ppm = o->max_overhead_ppm;
    t.walk = o->walk;
    t.depth = o->depth;
    t.cut = o->cut;
    t.features = o->features;
    t.signal = o->signal;
    t.wall_signal = o->wall_signal;
    t.precise = o->precise;
    t.tag_cpu = o->tag_cpu;
    t.tag_sched = o->tag_sched;
    t.restricted = s->filter.on || s->begin || s->end || o->from_ms || o->to_ms;
    t.time_ns = clock_now_ns();
    session_unlock(s);
    for (uint32_t i = 0; i < DECODER_FEEDS; i++)
        if (d->feed[i] && (only ? d->feed[i] == only : !feed_past(d->feed[i])))
            feed_put(d->feed[i], SHARE_STATUS, &t, sizeof t);
}

static void let_go(struct session *s, uint32_t slot) {
    struct feed *f = s->drain.decoder->feed[slot];
    past_free(feed_past(f));
    feed_set_past(f, NULL);
    session_lock(s);
    s->lookers--;
    lent_end(&s->lent, f);
    session_unlock(s);
    feed_release(f);
    s->drain.decoder->feed[slot] = NULL;
}

/* Disconnects a viewer; the sharing thread reports it. */
static void fail(struct session *s, uint32_t slot) {
    feed_fail(s->drain.decoder->feed[slot]);
    let_go(s, slot);
}

static void begun(struct session *s, struct feed *f) {
    feed_begun(f);
    tell_status(s, f);
}

/* Takes the state of this moment. Nothing is read from the ring meanwhile, so no sample is both in
 * the past and in the stream. The stream is held back from here on. */
static int take_past(struct session *s, struct feed *f) {
    struct past *p = past_new(s->drain.decoder, &s->lock, f, PAST_BYTES_MAX);
    int rc = p ? 1 : -ENOMEM;
    feed_set_past(f, p);
    while (rc > 0) {
        rc = past_take(p);
        drain_beat(&s->drain, clock_now_ns());
    }
    feed_hold(f, true);
    return rc;
}

/* There is a free slot, because `lookers` is limited. */
static void take_in(struct session *s, struct feed *f) {
    struct decoder *d = s->drain.decoder;
    uint32_t slot = 0;
    while (d->feed[slot])
        slot++;
    drain_publish(s);
    int rc = feed_wants_past(f) ? take_past(s, f) : 0;
    if (rc == 0)
        rc = decoder_restate_feed(d, slot, f);
    d->feed[slot] = f;
    if (rc != 0)
        fail(s, slot);
    else if (!feed_past(f))
        begun(s, f);
}

/* Returns the slot of the viewer that is receiving the past; there is at most one. DECODER_FEEDS:
 * there is none. */
static uint32_t being_told(const struct session *s) {
    uint32_t slot = 0;
    for (; slot < DECODER_FEEDS; slot++)
        if (s->drain.decoder->feed[slot] && feed_past(s->drain.decoder->feed[slot]))
            break;
    return slot;
}

static void tell_past(struct session *s, uint32_t slot) {
    struct feed *f = s->drain.decoder->feed[slot];
    struct past *p = feed_past(f);
    feed_hold(f, false);
    int rc = past_tell(p);
    feed_hold(f, true);
    feed_flush(f);
    if (rc < 0)
        fail(s, slot);
    if (rc != 0)
        return;
    feed_set_past(f, NULL);
    past_free(p);
    begun(s, f);
}

/* A viewer that wants no past need not wait for those that do. NULL: nobody is waiting. */
static struct feed *next_arrival(struct session *s, bool past) {
    struct feed *f = NULL;
    session_lock(s);
    for (uint32_t i = 0; i < s->arrivals && !f; i++) {
        if (!past && feed_wants_past(s->arriving[i]))
            continue;
        f = s->arriving[i];
        s->arrivals--;
        for (uint32_t k = i; k < s->arrivals; k++)
            s->arriving[k] = s->arriving[k + 1];
    }
    session_unlock(s);
    return f;
}

/* Does one step of sending names and the past to new viewers. True: something was done, and there
 * may be more to do. */
static bool serve_beginners(struct session *s) {
    uint32_t slot = being_told(s);
    struct feed *f = next_arrival(s, slot == DECODER_FEEDS);
    if (slot < DECODER_FEEDS)
        tell_past(s, slot);
    if (f)
        take_in(s, f);
    return f || slot < DECODER_FEEDS;
}

/* At least one whole reading of the ring begins after the call. `limit` NULL: none. The lock is held. */
static void await_rounds(struct session *s, const struct timespec *limit) {
    uint64_t until = s->rounds + 2;
    int over = 0;
    s->round_waiters++;
    while (s->rounds < until && !s->quit && !over) {
        session_wake_drain(s);
        if (limit)
            over = pthread_cond_timedwait(&s->changed, &s->lock, limit);
        else
            pthread_cond_wait(&s->changed, &s->lock);
    }
    s->round_waiters--;
}

void drain_await_rounds(struct session *s) {
    session_lock(s);
    await_rounds(s, NULL);
    session_unlock(s);
}

void session_catch_up(struct session *s) {
    struct timespec limit = clock_after_ms(CLOCK_MONOTONIC, CATCH_UP_MS);
    if (!s->threaded || pthread_equal(s->thread, pthread_self()))
        return;
    session_lock(s);
    if (s->mapping.wire && s->status.phase == SESSION_RUNNING)
        await_rounds(s, &limit);
    session_unlock(s);
}

static void end_round(struct session *s) {
    session_lock(s);
    s->rounds++;
    if (s->round_waiters)
        pthread_cond_broadcast(&s->changed);
    session_unlock(s);
}

void drain_feed(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    bool any = false, sent = false;
    session_lock(s);
    uint32_t lookers = s->lookers;
    d->viewed = lookers > 0;
    bool awaited = s->round_waiters > 0;
    struct share *share = s->share;
    session_unlock(s);
    if (!lookers) {
        end_round(s);
        return;
    }
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
    if (any && (awaited || phase != d->told_phase || now - d->told_ns > SECOND_NS)) {
        d->told_ns = now;
        d->told_phase = phase;
        tell_status(s, NULL);
        sent = true;
    }
    if (serve_beginners(s)) {
        sent = true;
        session_wake_drain(s);
    }
    if (sent)
        share_wake(share);
    end_round(s);
}

void drain_end_feeds(struct session *s) {
    struct decoder *d = s->drain.decoder;
    uint64_t until = clock_now_ns() + END_NS;
    while (clock_now_ns() < until && serve_beginners(s))
        ;
    for (struct feed *f; (f = next_arrival(s, true));) {
        feed_fail(f);
        feed_release(f);
    }
    tell_status(s, NULL);
    for (uint32_t i = 0; i < DECODER_FEEDS; i++) {
        if (!d->feed[i])
            continue;
        feed_flush(d->feed[i]);
        if (feed_past(d->feed[i]))
            fail(s, i);
        else
            let_go(s, i);
    }
}
