#include "core/decode/decoder_parts.h"

/* False: nobody wants to know of this thread. */
static bool is_wanted(struct decoder *d, uint32_t tid, uint64_t virtual_id, bool *undecided) {
    *undecided = false;
    if (!d->filter)
        return true;
    enum thread_verdict v = thread_filter_verdict(d->filter, tid, virtual_id);
    *undecided = v == THREAD_UNDECIDED;
    return v != THREAD_UNWANTED;
}

static_assert((int)WIRE_THREAD_UNKNOWN == PROFILE_STATE_UNKNOWN &&
                  (int)WIRE_THREAD_RUNNING == PROFILE_STATE_RUNNING &&
                  (int)WIRE_THREAD_STATES <= PROFILE_STATES,
              "the profile's states are those of the wire");

static void note_time(struct decoder_counts *c, uint64_t time_ns) {
    if (!c->first_ns || time_ns < c->first_ns)
        c->first_ns = time_ns;
    if (time_ns > c->last_ns)
        c->last_ns = time_ns;
}

/* Whether it is to be counted as alive until its end is told. */
static uint64_t followed(struct decoder *d, const struct wire_sample *w) {
    if (w->live_id == 0 || (w->event != WIRE_EVENT_ALLOC && w->event != WIRE_EVENT_NATIVEMEM))
        return 0;
    struct kept_place *k = place_map_get(&d->live, w->live_id);
    if (!k)
        return w->live_id;
    bool gone = k->state == PLACE_GONE;
    /* An id given again: what had it is gone. */
    if (k->state == PLACE_COUNTED)
        profile_retract(d->profile, &k->at, k->weight, k->count);
    else if (k->state == PLACE_HELD)
        k->held->live_id = 0;
    place_map_remove(&d->live, w->live_id);
    return gone ? 0 : w->live_id;
}

bool decoder_decode_sample(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_sample *w = record;
    struct stack stack;
    bool undecided;
    if (w->event >= WIRE_EVENTS || !decoder_stack(record, length, &stack))
        return false;
    if (!is_wanted(d, w->tid, w->virtual_id, &undecided)) {
        d->counts.unwanted++;
        decoder_forget_sample(d, w->tid, w->event);
        return true;
    }
    uint32_t failure = decoder_translate(d, &stack, d->frame, d->key);
    if (failure < WIRE_FAILURES)
        d->counts.failed[failure]++;
    struct delivery what = {
        .sample =
            {
                .time_ns = decoder_plausible_time(d, w->time_ns),
                .weight = decoder_bounded(&d->weighed[w->event], w->weight),
                .count = decoder_count(w->count),
                .tid = w->tid,
                .virtual_id = w->virtual_id,
                .event = w->event,
                .failed = failure < WIRE_FAILURES && wire_failure_is_error(failure),
                .state = w->state < WIRE_THREAD_STATES ? w->state : WIRE_THREAD_UNKNOWN,
            },
        .undecided = undecided,
        .live_id = followed(d, w),
        .awaited = undecided ? decoder_thread_key(w->tid, w->virtual_id)
                             : decoder_fill_in(d, d->frame, d->key, stack.frames),
        .frames = decoder_add_tags(d, w, stack.frames),
        .frame = d->frame,
        .key = d->key,
    };
    note_time(&d->counts, what.sample.time_ns);
    decoder_see_thread(d, w->tid);
    decoder_accept(d, &what);
    return true;
}

bool decoder_decode_lock(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_lock *w = record;
    struct stack owner;
    bool undecided;
    if (!decoder_stack(record, length, &owner))
        return false;
    if (!is_wanted(d, w->tid, w->virtual_id, &undecided)) {
        d->counts.unwanted++;
        return true;
    }
    decoder_translate(d, &owner, d->frame, d->key);
    /* Behind them the lock's class, which may wait for its name as they do. */
    uint64_t class = wire_frame_java(WIRE_FRAME_CLASS, w->class_id, WIRE_BCI_NONE);
    decoder_translate(d, &(struct stack){&class, 1}, d->frame + owner.frames,
                      d->key + owner.frames);
    struct delivery what = {
        .sample = {.tid = w->tid, .virtual_id = w->virtual_id},
        .lock =
            {
                .time_ns = decoder_plausible_time(d, w->time_ns),
                .waited_ns = decoder_bounded(&d->waited_ns, w->waited_ns),
                .lock_id = w->lock_id,
                .flags = w->flags & (WIRE_LOCK_MONITOR | WIRE_LOCK_SHARED),
                .tid = w->tid,
                .virtual_id = w->virtual_id,
                .owner_tid = w->owner_tid,
                .owner_virtual_id = w->owner_virtual_id,
            },
        .is_lock = true,
        .undecided = undecided,
        .frames = owner.frames + 1,
        .frame = d->frame,
        .key = d->key,
    };
    what.awaited = undecided ? decoder_thread_key(w->tid, w->virtual_id)
                             : decoder_fill_in(d, d->frame, d->key, what.frames);
    decoder_see_thread(d, w->tid);
    if (w->owner_tid)
        decoder_see_thread(d, w->owner_tid);
    decoder_accept(d, &what);
    return true;
}
