#include "core/decode/decoder.h"

#include "core/base/clean_text.h"
#include "core/decode/decoder_parts.h"
#include "core/decode/tap.h"
#include "core/wire/wire_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False: the filter leaves the thread out. */
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

/* The live_id under which the sample counts as alive until its end is reported; 0: none. */
static uint64_t followed(struct decoder *d, const struct wire_sample *w) {
    if (w->live_id == 0 || (w->event != WIRE_EVENT_ALLOC && w->event != WIRE_EVENT_NATIVEMEM) ||
        d->unfollowed & 1u << w->event)
        return 0;
    struct kept_place *k = place_map_get(&d->live, w->live_id);
    if (!k)
        return w->live_id;
    bool gone = k->state == PLACE_GONE;
    /* The id is in use: what had it before is gone. */
    if (k->state == PLACE_COUNTED)
        profile_retract(d->profile, &k->at, k->weight, k->count);
    else if (k->state == PLACE_HELD)
        k->held->live_id = 0;
    place_map_remove(&d->live, w->live_id);
    return gone ? 0 : w->live_id;
}

/* One function per record type. False: the record contradicts itself. `length` is at least the
 * smallest size of the type. */
static bool decoder_decode_sample(struct decoder *d, const void *record, uint32_t length) {
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

static bool decoder_decode_lock(struct decoder *d, const void *record, uint32_t length) {
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
    /* After the owner's frames comes the lock's class, which may wait for its name as they do. */
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

#define REPLACED_MAX 100u                           /* replaced events, at most */
#define PAUSE_MAX_NS (UINT64_C(3600) * 1000000000u) /* no real pause is longer */

static void add_news(struct decoder_notes *n, const struct wire_log *w) {
    clean_text(n->latest, sizeof n->latest, w->bytes, w->text_bytes);
    size_t length = strlen(n->latest);
    if (length + 2 > sizeof n->news - n->news_bytes) {
        n->news_left_out++;
        return;
    }
    memcpy(n->news + n->news_bytes, n->latest, length);
    memcpy(n->news + n->news_bytes + length, "\n", 2);
    n->news_bytes += length + 1;
}

static bool decoder_decode_log(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_log *w = record;
    if (w->text_bytes > length - sizeof *w)
        return false;
    if (w->level > 1) {
        add_news(&d->notes, w);
        return true;
    }
    clean_text(d->notes.log, sizeof d->notes.log, w->bytes, w->text_bytes);
    d->notes.logs++;
    return true;
}

/* Makes begin and end of a past time plausible. False: it ends before it begins. */
static bool plausible_span(const struct decoder *d, uint64_t *begin_ns, uint64_t *end_ns) {
    if (*end_ns < *begin_ns)
        return false;
    *begin_ns = decoder_plausible_time(d, *begin_ns);
    *end_ns = decoder_plausible_time(d, *end_ns);
    return true;
}

static bool decoder_decode_pause(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_pause *w = record;
    uint64_t begin = w->begin_ns, end = w->end_ns;
    if (!plausible_span(d, &begin, &end))
        return false;
    if (end - begin > PAUSE_MAX_NS)
        begin = end - PAUSE_MAX_NS;
    profile_pause(d->profile, begin, end, w->kind == WIRE_PAUSE_GC ? 0 : 1);
    return true;
}

static bool decoder_decode_window(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_window *w = record;
    uint64_t begin = w->begin_ns, end = w->end_ns;
    if (!plausible_span(d, &begin, &end))
        return false;
    d->counts.windows++;
    decoder_bounded(&d->counts.window_ns, end - begin);
    if (d->tap)
        d->tap->window(d->tap->arg, begin, end);
    return true;
}

static bool decoder_decode_jvm(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_jvm *w = record;
    size_t left = length - sizeof *w;
    if (!d->replay || w->name_bytes > left || w->version_bytes > left - w->name_bytes)
        return false;
    d->notes.pid = w->pid;
    clean_text(d->notes.jvm_name, sizeof d->notes.jvm_name, w->bytes, w->name_bytes);
    clean_text(d->notes.jvm_version, sizeof d->notes.jvm_version, w->bytes + w->name_bytes,
               w->version_bytes);
    d->notes.undated = w->start_ns == 0;
    d->notes.day_ns = w->start_ns >= w->clock_ns && w->start_ns <= INT64_MAX / 2
                          ? (int64_t)(w->start_ns - w->clock_ns)
                          : 0;
    return true;
}

static bool decoder_decode_environment(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_environment *w = record;
    if (!d->replay || w->text_bytes > length - sizeof *w)
        return false;
    environment_clean(d->notes.environment, sizeof d->notes.environment, w->bytes, w->text_bytes);
    return true;
}

/* What is left out by --from and --to was not sampled, as far as rates are concerned. */
static void note_run(struct decoder *d, uint32_t event, uint64_t time_ns, bool runs) {
    time_ns = time_window_clamp(&d->window, time_ns);
    profile_event_runs(d->profile, (int)event, time_ns, runs);
    if (event == WIRE_EVENT_WALL)
        profile_event_runs(d->profile, EVENT_ACTIVE, time_ns, runs);
}

static void next_moment(struct decoder *d, uint64_t time_ns) {
    struct decoder_marks *m = &d->marks;
    uint64_t gap = m->any && time_ns > m->moment_ns ? time_ns - m->moment_ns : 0;
    if (m->running)
        decoder_bounded(&m->sampled_ns, gap);
    /* An event that was stopped, and is no longer requested, has no mark. */
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        if (m->ran & ~m->asked & 1u << event)
            note_run(d, event, m->moment_ns, false);
    m->ran &= m->asked;
    m->any = true;
    m->moment_ns = time_ns;
    m->running = false;
    m->asked = 0;
}

/* If another event has taken this one's number, the samples in the profile would count as its own:
 * removes them. This needs a pass over the profile, so it is done REPLACED_MAX times at most. */
static void replace_event(struct decoder *d, const struct wire_engine_status *now) {
    const struct wire_engine_status *before = &d->marks.engine[now->event];
    if (before->mechanism == WIRE_MECHANISM_AUTO || d->marks.replaced >= REPLACED_MAX ||
        !profile_samples(d->profile, (int)now->event) ||
        strncmp(now->name, before->name, sizeof now->name) == 0)
        return;
    profile_forget(d->profile, now->event);
    if (now->event == WIRE_EVENT_WALL)
        profile_forget(d->profile, EVENT_ACTIVE);
    d->marks.replaced++;
}

static bool decoder_decode_mark(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    struct decoder_marks *m = &d->marks;
    const struct wire_mark *w = record;
    uint32_t event = w->engine.event;
    if (!d->replay || event >= WIRE_EVENTS)
        return false;
    if (!m->any || w->time_ns != m->moment_ns)
        next_moment(d, w->time_ns);
    m->last = *w;
    m->asked |= 1u << event;
    bool runs = w->engine.mechanism != WIRE_MECHANISM_AUTO;
    m->running |= runs;
    m->ran |= (uint32_t)runs << event;
    note_run(d, event, w->time_ns, runs);
    if (runs && m->known & 1u << event)
        replace_event(d, &w->engine);
    /* The mark of an engine that was just stopped no longer says how it ran. */
    if (runs || w->engine.error || !(m->known & 1u << event))
        m->engine[event] = w->engine;
    m->known |= 1u << event;
    return true;
}

static const struct {
    enum method_kind kind;
    const char *name;
} unknown_name[SOURCES] = {
    [SOURCE_NONE] = {METHOD_ERROR, "[unknown_frame]"},
    [SOURCE_METHOD] = {METHOD_ERROR, "[unknown_method]"},
    [SOURCE_CLASS] = {METHOD_ERROR, "[unknown_class]"},
    [SOURCE_STUB] = {METHOD_STUB, "[unknown_stub]"},
    [SOURCE_NATIVE] = {METHOD_NATIVE, "[unknown]"},
    [SOURCE_KERNEL] = {METHOD_KERNEL, "[kernel]"},
    [SOURCE_ERROR] = {METHOD_ERROR, "[no_stack]"},
    [SOURCE_COMPILING] = {METHOD_COMPILING, "[unknown_method]"},
    [SOURCE_PC] = {METHOD_NATIVE, "[unknown]"},
    [SOURCE_OUTSIDE] = {METHOD_ERROR, "[unknown_class]"},
};

struct decoder *decoder_new(struct profile *p, struct symbols *symbols) {
    static_assert(SOURCES <= sizeof(((struct decoder *)0)->unknown) / sizeof(uint32_t), "room");
    struct decoder *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->profile = p;
    address_names_init(&d->addresses, symbols);
    name_table_init(&d->names, DECODER_NAMES_MAX, DECODER_LINE_BYTES_MAX);
    id_map_init(&d->threads, DECODER_THREADS_MAX);
    id_map_init(&d->policies, DECODER_THREADS_MAX);
    place_map_init(&d->repeats, DECODER_REPEATS_MAX);
    place_map_init(&d->live, DECODER_LIVE_MAX);
    held_samples_init(&d->held);
    decoder_keep_init(&d->kept);
    time_window_init(&d->window);
    struct method_table *t = profile_methods(p);
    for (int i = 0; i < SOURCES; i++)
        d->unknown[i] =
            method_table_intern(t, unknown_name[i].kind, "", unknown_name[i].name, "", "");
    for (int i = 0; i < WIRE_FAILURES; i++) {
        char name[64];
        snprintf(name, sizeof name, "[%s]", wire_failure_name[i]);
        d->failure_method[i] = method_table_intern(t, METHOD_ERROR, "", name, "", "");
    }
    return d;
}

void decoder_free(struct decoder *d) {
    if (!d)
        return;
    while (d->held.first)
        free(held_samples_take(&d->held, &d->held.first));
    address_names_free(&d->addresses);
    name_table_free(&d->names);
    id_map_free(&d->threads);
    id_map_free(&d->policies);
    place_map_free(&d->repeats);
    place_map_free(&d->live);
    decoder_keep_free(&d->kept);
    time_window_free(&d->window);
    free(d);
}

/* Memory per followed allocation, with its share of tables that double in size. */
#define FOLLOWED_BYTES (2 * sizeof(struct kept_place) + 40)
#define FOLLOWED_LEAST 1024u

void decoder_limit_memory(struct decoder *d, uint64_t bytes) {
    uint64_t n = bytes / FOLLOWED_BYTES;
    if (bytes == 0)
        return;
    n = n < FOLLOWED_LEAST ? FOLLOWED_LEAST : n;
    d->live.index.limit = n < DECODER_LIVE_MAX ? (uint32_t)n : DECODER_LIVE_MAX;
}

static const struct {
    uint16_t type;
    uint16_t least; /* bytes; a shorter record is bad */
    bool (*decode)(struct decoder *d, const void *record, uint32_t length);
} record_type[] = {
    {WIRE_SAMPLE, sizeof(struct wire_sample), decoder_decode_sample},
    {WIRE_REPEAT, sizeof(struct wire_repeat), decoder_decode_repeat},
    {WIRE_FREE, sizeof(struct wire_free), decoder_decode_free},
    {WIRE_LOCK, sizeof(struct wire_lock), decoder_decode_lock},
    {WIRE_METHOD, sizeof(struct wire_method), decoder_decode_method},
    {WIRE_CLASS, sizeof(struct wire_class), decoder_decode_class},
    {WIRE_THREAD, sizeof(struct wire_thread), decoder_decode_thread},
    {WIRE_THREAD_END, sizeof(struct wire_thread_end), decoder_decode_thread_end},
    {WIRE_JAVA_STATE, sizeof(struct wire_java_state), decoder_decode_java_state},
    {WIRE_STUB, sizeof(struct wire_stub), decoder_decode_stub},
    {WIRE_LOG, sizeof(struct wire_log), decoder_decode_log},
    {WIRE_PAUSE, sizeof(struct wire_pause), decoder_decode_pause},
    {WIRE_WINDOW, sizeof(struct wire_window), decoder_decode_window},
    {WIRE_SYMBOL, sizeof(struct wire_symbol), decoder_decode_symbol},
    {WIRE_JVM, sizeof(struct wire_jvm), decoder_decode_jvm},
    {WIRE_ENVIRONMENT, sizeof(struct wire_environment), decoder_decode_environment},
    {WIRE_MARK, sizeof(struct wire_mark), decoder_decode_mark},
};

/* Finds out the event and the time of a record that belongs to one event. */
static bool is_of_event(const void *record, uint32_t *event, uint64_t *time_ns) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    uint32_t type = wire_header_type(word), length = wire_header_length(word);
    if (type == WIRE_SAMPLE && length >= sizeof(struct wire_sample)) {
        *event = ((const struct wire_sample *)record)->event;
        *time_ns = ((const struct wire_sample *)record)->time_ns;
    } else if (type == WIRE_REPEAT && length >= sizeof(struct wire_repeat)) {
        *event = ((const struct wire_repeat *)record)->event;
        *time_ns = ((const struct wire_repeat *)record)->time_ns;
    } else if (type == WIRE_LOCK && length >= sizeof(struct wire_lock)) {
        *event = WIRE_EVENT_LOCK;
        *time_ns = ((const struct wire_lock *)record)->time_ns;
    } else {
        return false;
    }
    return true;
}

static bool counts(const struct decoder *d, uint32_t event) {
    return !d->only || event >= WIRE_EVENTS || d->only & 1u << event;
}

bool decoder_is_ours(const struct decoder *d, const void *record) {
    uint64_t time_ns;
    uint32_t event;
    return !is_of_event(record, &event, &time_ns) ||
           (counts(d, event) && time_window_is_open(&d->window, time_ns));
}

void decoder_decode(struct decoder *d, const void *record) {
    uint64_t word, time_ns;
    uint32_t event;
    if (d->only && is_of_event(record, &event, &time_ns) && !counts(d, event))
        return;
    if (time_window_is_on(&d->window) && !(record = time_window_pass(&d->window, record)))
        return;
    memcpy(&word, record, sizeof word);
    uint32_t type = wire_header_type(word);
    uint32_t length = wire_header_length(word);
    for (size_t i = 0; i < sizeof record_type / sizeof record_type[0]; i++) {
        if (record_type[i].type != type)
            continue;
        if (length < record_type[i].least || !record_type[i].decode(d, record, length))
            d->counts.bad++;
        return;
    }
}

static void write_symbol(struct decoder *d, uint64_t address, const struct address_name *a) {
    if (d->recording)
        recording_write_symbol(d->recording, address, a->kind, a->name, a->module);
    for (uint32_t i = 0; i < DECODER_FEEDS; i++)
        if (d->feed[i])
            feed_write_symbol(d->feed[i], address, a->kind, a->name, a->module);
}

/* Whether the record's thread is filtered out. Viewers have no filter of their own. */
static bool is_left_out(struct decoder *d, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    uint32_t type = wire_header_type(word), length = wire_header_length(word), tid;
    uint64_t virtual_id = 0;
    if (!d->filter)
        return false;
    if (type == WIRE_SAMPLE && length >= sizeof(struct wire_sample)) {
        tid = ((const struct wire_sample *)record)->tid;
        virtual_id = ((const struct wire_sample *)record)->virtual_id;
    } else if (type == WIRE_LOCK && length >= sizeof(struct wire_lock)) {
        tid = ((const struct wire_lock *)record)->tid;
        virtual_id = ((const struct wire_lock *)record)->virtual_id;
    } else {
        return false;
    }
    return thread_filter_verdict(d->filter, tid, virtual_id) == THREAD_UNWANTED;
}

/* Writes the record to the recording and all feeds. States of threads are of no use later, so a
 * recording does not have them. The receivers in `fresh` get `spelled`. */
static void write_record(struct decoder *d, const void *record, const void *spelled,
                         uint32_t fresh) {
    bool passing = wire_header_type(*(const uint64_t *)record) == WIRE_JAVA_STATE;
    if (d->recording && !passing && decoder_is_ours(d, record))
        recording_write(d->recording, fresh & DECODER_FILE ? spelled : record);
    if (is_left_out(d, spelled))
        return;
    for (uint32_t i = 0; i < DECODER_FEEDS; i++)
        if (d->feed[i])
            feed_write(d->feed[i], fresh & decoder_feed_bit(i) ? spelled : record);
}

void decoder_prepare(struct decoder *d, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    uint32_t type = wire_header_type(word);
    decoder_keep(d, record, type, wire_header_length(word));
    uint32_t fresh = 0;
    const void *spelled = decoder_spell_out(d, record, type, wire_header_length(word), &fresh);
    memcpy(&word, spelled, sizeof word);
    struct stack stack = {0};
    bool whole = decoder_stack(spelled, wire_header_length(word), &stack);
    if (whole && wire_header_type(word) == WIRE_SAMPLE)
        decoder_learn_policy(d, ((const struct wire_sample *)spelled)->tid);
    for (uint32_t i = 0; whole && i < stack.frames; i++) {
        uint32_t frame = wire_frame_type(stack.frame[i]);
        if (frame != WIRE_FRAME_NATIVE && frame != WIRE_FRAME_KERNEL)
            continue;
        uint64_t address = decoder_looked_up(&stack, i);
        if (address_names_look_up(&d->addresses, address))
            write_symbol(d, address, address_names_get(&d->addresses, address));
    }
    /* Types that only readers write are forged here, unless a reader wrote the stream. */
    if ((type < WIRE_SYMBOL && type != WIRE_PAD) || (type == WIRE_SYMBOL && d->replay))
        write_record(d, record, spelled, fresh);
}

void decoder_libraries_changed(struct decoder *d) {
    address_names_refresh(&d->addresses);
}
