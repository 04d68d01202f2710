#include "core/decode/decoder_parts.h"

#include "core/decode/tap.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND UINT64_C(1000000000)

uint64_t decoder_plausible_time(const struct decoder *d, uint64_t time_ns) {
    if (!d->now_ns)
        return time_ns;
    if (time_ns > d->now_ns)
        return d->now_ns;
    return time_ns < d->since_ns ? d->since_ns : time_ns;
}

uint32_t decoder_count(uint32_t count) {
    if (count == WIRE_COUNT_NONE)
        return 0;
    if (count == 0)
        return 1;
    return count < DECODER_COUNT_MAX ? count : DECODER_COUNT_MAX;
}

uint64_t decoder_bounded(uint64_t *sum, uint64_t weight) {
    uint64_t left = DECODER_WEIGHTS_MAX - *sum;
    uint64_t most = left < DECODER_WEIGHT_MAX ? left : DECODER_WEIGHT_MAX;
    uint64_t taken = weight < most ? weight : most;
    *sum += taken;
    return taken;
}

/* Places. */

/* A map's key is never 0. */
static uint64_t pair_key(uint32_t tid, uint32_t event) {
    return UINT64_C(1) << 40 | (uint64_t)event << 32 | tid;
}

void decoder_forget_sample(struct decoder *d, uint32_t tid, uint32_t event) {
    place_map_remove(&d->repeats, pair_key(tid, event));
}

void decoder_forget_thread(struct decoder *d, uint32_t tid) {
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        decoder_forget_sample(d, tid, event);
}

static void set_held(struct kept_place *k, struct delivery *held) {
    k->state = PLACE_HELD;
    k->held = held;
}

static void set_counted(struct kept_place *k, const struct profile_place *at,
                        const struct profile_sample *s) {
    k->state = PLACE_COUNTED;
    k->held = NULL;
    k->at = *at;
    k->weight = s->weight;
    k->count = s->count;
}

/* The place kept under this key for a delivery. If the delivery is held, only a place that waits
 * for it. */
static struct kept_place *kept(struct place_map *m, uint64_t key, const struct delivery *what,
                               bool held) {
    if (!held)
        return place_map_put(m, key);
    struct kept_place *k = place_map_get(m, key);
    return k && k->held == what ? k : NULL;
}

/* The delivery is not counted: removes the places that wait for it. */
static void forget(struct decoder *d, const struct delivery *what, bool held) {
    const struct profile_sample *s = &what->sample;
    if (what->is_lock)
        return;
    if (kept(&d->repeats, pair_key(s->tid, s->event), what, held))
        decoder_forget_sample(d, s->tid, s->event);
    if (what->live_id && kept(&d->live, what->live_id, what, held))
        place_map_remove(&d->live, what->live_id);
}

/* Counting. */

static void count_alive(struct decoder *d, struct delivery *what, bool held) {
    struct profile_sample s = what->sample;
    struct profile_place at;
    s.event = s.event == WIRE_EVENT_ALLOC ? EVENT_LIVE : EVENT_LEAK;
    struct kept_place *k = kept(&d->live, what->live_id, what, held);
    if (!k) {
        d->counts.unfollowed++;
        return;
    }
    if (profile_add_at(d->profile, &s, &at) == 0) {
        set_counted(k, &at, &s);
    } else {
        d->counts.refused++;
        place_map_remove(&d->live, what->live_id);
    }
}

static bool is_active(uint32_t event, uint8_t state) {
    return event == WIRE_EVENT_WALL && event_is_active(state);
}

static_assert(EVENT_ACTIVE < PROFILE_EVENTS, "the profile has room for it");

static void count_active(struct decoder *d, const struct profile_sample *sample) {
    struct profile_sample s = *sample;
    s.event = EVENT_ACTIVE;
    if (profile_add(d->profile, &s) != 0)
        d->counts.refused++;
}

/* The repeat of a sample that is counted at `at`: of the same stack, so no place is kept for it. */
static void repeat_active(struct decoder *d, const struct profile_place *at, uint64_t time_ns,
                          uint64_t weight, uint32_t count, uint8_t state) {
    struct profile_place active = *at;
    active.event = EVENT_ACTIVE;
    if (profile_repeat(d->profile, &active, time_ns, weight, count, state) != 0)
        d->counts.refused++;
}

static void tell(const struct decoder *d, const struct profile_place *at,
                 const struct profile_sample *s, uint64_t live_id) {
    const struct tap_sample told = {
        .at = at,
        .time_ns = s->time_ns,
        .weight = s->weight,
        .live_id = live_id,
        .count = s->count,
        .event = s->event,
        .state = s->state,
    };
    if (d->tap)
        d->tap->sample(d->tap->arg, d->profile, &told);
}

static void tell_gone(const struct decoder *d, const struct wire_free *w,
                      const struct kept_place *k) {
    const struct tap_sample told = {
        .at = &k->at,
        .time_ns = decoder_plausible_time(d, w->time_ns),
        .weight = k->weight,
        .live_id = w->live_id,
        .count = k->count,
        .event = k->at.event == EVENT_LIVE ? WIRE_EVENT_ALLOC : WIRE_EVENT_NATIVEMEM,
    };
    if (d->tap)
        d->tap->gone(d->tap->arg, d->profile, &told);
}

static void count_sample(struct decoder *d, struct delivery *what, bool held) {
    struct profile_sample *s = &what->sample;
    struct profile_frame none = {.method = d->unknown[SOURCE_ERROR]};
    struct profile_place at;
    s->frame = what->frame;
    s->frames = (uint16_t)what->frames;
    if (s->frames == 0) {
        s->failed = 1;
        s->frames = 1;
        s->frame = &none;
    }
    if (profile_add_at(d->profile, s, &at) != 0) {
        d->counts.refused++;
        forget(d, what, held);
        return;
    }
    d->counts.samples += s->count;
    d->counts.event[s->event] += s->count;
    tell(d, &at, s, what->live_id);
    if (is_active(s->event, s->state))
        count_active(d, s);
    struct kept_place *k = kept(&d->repeats, pair_key(s->tid, s->event), what, held);
    if (k)
        set_counted(k, &at, s);
    if (what->live_id)
        count_alive(d, what, held);
}

static void count_lock(struct decoder *d, struct delivery *what) {
    struct profile_lock *l = &what->lock;
    uint32_t frames = what->frames - 1;
    /* The agent publishes the sample with the waiter's stack just before the wait. If the wait was
     * held back for a name, the thread's last sample may be a later one. */
    const struct kept_place *k = place_map_get(&d->repeats, pair_key(l->tid, WIRE_EVENT_LOCK));
    bool is_of_wait = k && k->state == PLACE_COUNTED && k->at.virtual_id == l->virtual_id &&
                      k->at.second <= l->time_ns / NS_PER_SECOND + 1 &&
                      k->at.second + 1 >= l->time_ns / NS_PER_SECOND;
    l->at = is_of_wait ? &k->at : NULL;
    l->class_id = what->frame[frames].method;
    l->owner_frame = what->frame;
    l->owner_frames = (uint16_t)frames;
    if (profile_lock_wait(d->profile, l) != 0)
        d->counts.refused++;
}

static void deliver(struct decoder *d, struct delivery *what, bool held) {
    if (what->undecided) {
        d->counts.unwanted++;
        forget(d, what, held);
    } else if (what->is_lock) {
        count_lock(d, what);
    } else {
        count_sample(d, what, held);
    }
}

/* Waiting. */

static void deliver_held(struct decoder *d, struct held_sample **link) {
    struct held_sample *s = held_samples_take(&d->held, link);
    deliver(d, &s->what, true);
    free(s);
}

/* Called when a name that the delivery waits for is known. False: it waits for more names. */
static bool is_complete(struct decoder *d, struct delivery *what) {
    const struct profile_sample *s = &what->sample;
    if (what->undecided) {
        enum thread_verdict v = thread_filter_verdict(d->filter, s->tid, s->virtual_id);
        if (v == THREAD_UNDECIDED)
            return false;
        if (v == THREAD_UNWANTED)
            return true;
        what->undecided = false;
    }
    what->awaited = decoder_fill_in(d, what->frame, what->key, what->frames);
    return !what->awaited;
}

void decoder_release(struct decoder *d, uint64_t key) {
    for (struct held_sample **link = &d->held.first; *link;) {
        struct held_sample *s = *link;
        if (s->what.awaited == key && is_complete(d, &s->what))
            deliver_held(d, link);
        else
            link = &s->next;
    }
}

void decoder_expire(struct decoder *d) {
    while (d->held.first && d->now_ns - d->held.first->arrived_ns > DECODER_HOLD_NS)
        deliver_held(d, &d->held.first);
}

void decoder_flush(struct decoder *d) {
    while (d->held.first)
        deliver_held(d, &d->held.first);
}

static bool hold(struct decoder *d, const struct delivery *what) {
    if (d->held.first && (d->held.count >= HELD_SAMPLES_MAX || d->held.bytes >= HELD_BYTES_MAX))
        deliver_held(d, &d->held.first);
    struct delivery *h = held_samples_add(&d->held, what, d->now_ns);
    if (!h)
        return false;
    if (h->is_lock)
        return true;
    struct kept_place *k = place_map_put(&d->repeats, pair_key(h->sample.tid, h->sample.event));
    if (k)
        set_held(k, h);
    k = h->live_id ? place_map_put(&d->live, h->live_id) : NULL;
    if (k)
        set_held(k, h);
    return true;
}

void decoder_accept(struct decoder *d, struct delivery *what) {
    if (!what->awaited || !hold(d, what))
        deliver(d, what, false);
}

/* Repeats and ends. */

static void add_to_held(struct delivery *held, uint64_t weight, uint32_t count) {
    struct profile_sample *s = &held->sample;
    s->weight += weight; /* no overflow: both are part of one limited sum */
    s->count = count < UINT32_MAX - s->count ? s->count + count : UINT32_MAX;
}

bool decoder_decode_repeat(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_repeat *w = record;
    if (w->event >= WIRE_EVENTS)
        return false;
    struct kept_place *k = place_map_get(&d->repeats, pair_key(w->tid, w->event));
    if (!k) {
        d->counts.unplaced++;
        return true;
    }
    uint64_t weight = decoder_bounded(&d->weighed[w->event], w->weight);
    uint32_t count = decoder_count(w->count);
    if (k->state == PLACE_HELD) {
        add_to_held(k->held, weight, count);
        return true;
    }
    uint64_t time_ns = decoder_plausible_time(d, w->time_ns);
    uint8_t state = w->state < WIRE_THREAD_STATES ? w->state : WIRE_THREAD_UNKNOWN;
    if (d->filter &&
        thread_filter_verdict(d->filter, k->at.tid, k->at.virtual_id) == THREAD_UNWANTED) {
        d->counts.unwanted++; /* the thread was renamed */
    } else if (profile_repeat(d->profile, &k->at, time_ns, weight, count, state) != 0) {
        d->counts.refused++;
    } else {
        d->counts.samples += count;
        d->counts.event[w->event] += count;
        const struct profile_sample again = {.time_ns = time_ns,
                                             .weight = weight,
                                             .count = count,
                                             .event = w->event,
                                             .state = state};
        tell(d, &k->at, &again, 0);
        if (is_active(w->event, state))
            repeat_active(d, &k->at, time_ns, weight, count, state);
        if (time_ns > d->counts.last_ns)
            d->counts.last_ns = time_ns;
    }
    return true;
}

/* Remembers an end that came before its sample. The oldest of these ends is forgotten. */
static void note_early(struct decoder *d, uint64_t live_id) {
    uint64_t *at = &d->early[d->early_at++ % DECODER_EARLY_MAX];
    struct kept_place *oldest = *at ? place_map_get(&d->live, *at) : NULL;
    if (oldest && oldest->state == PLACE_GONE)
        place_map_remove(&d->live, *at);
    *at = live_id;
    struct kept_place *k = place_map_put(&d->live, live_id);
    if (k)
        k->state = PLACE_GONE;
}

bool decoder_decode_free(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_free *w = record;
    if (w->live_id == 0)
        return false;
    struct kept_place *k = place_map_get(&d->live, w->live_id);
    if (!k) {
        note_early(d, w->live_id);
        return true;
    }
    if (k->state == PLACE_GONE)
        return true;
    if (k->state == PLACE_COUNTED)
        tell_gone(d, w, k);
    if (k->state == PLACE_COUNTED)
        profile_retract(d->profile, &k->at, k->weight, k->count);
    else if (k->held)
        k->held->live_id = 0;
    place_map_remove(&d->live, w->live_id);
    return true;
}

void decoder_new_stream(struct decoder *d) {
    decoder_flush(d);
    name_table_clear(&d->names);
    place_map_clear(&d->repeats);
    place_map_clear(&d->live);
    kept_records_clear(&d->kept.repeated);
    memset(d->early, 0, sizeof d->early);
}
