#include "core/import/jfr/jfr_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX (2u << 20) /* as many as the decoder tracks */

int jfr_samples_open(struct jfr_samples *s, const struct jfr_survey *survey, import_record *each,
                     void *arg) {
    s->emit = emit_open(each, arg);
    s->each = each;
    s->arg = arg;
    s->survey = survey;
    id_map_init(&s->blocks, BLOCKS_MAX);
    return s->emit ? 0 : -ENOMEM;
}

void jfr_samples_close(struct jfr_samples *s) {
    emit_close(s->emit);
    id_map_free(&s->blocks);
    jfr_live_free(&s->living);
    *s = (struct jfr_samples){0};
}

/* ---- events in order ---- */

struct ref {
    uint64_t time_ns; /* sample time of the event's end */
    const uint8_t *at;
};

struct reading {
    struct jfr_samples *s;
    struct jfr_chunk *k;
    struct jfr_events events;
    struct jfr_names names;
    struct id_map states; /* position of a constant's value → enum wire_thread_state + 1 */
    struct ref *ref;
    size_t refs, cap;
    bool living; /* read only live objects, to recognize their allocations later */
    /* the current event */
    enum jfr_row row;
    enum wire_event event;
    const struct jfr_layout *layout;
    struct jfr_value v[JFR_FIELDS];
    uint64_t time_ns, lasts_ns;
};

static uint64_t number(const struct reading *r, int field) {
    return field < 0 ? 0 : r->v[field].number;
}

/* Returns a time span in ns. */
static uint64_t span(const struct reading *r, int field) {
    uint64_t unit = field < 0 ? 0 : r->layout->type->field[field].ns, n = number(r, field);
    if (!unit)
        return jfr_chunk_span(r->k, n);
    return n < UINT64_MAX / 2 / unit ? n * unit : 0;
}

static uint64_t sample_time(const struct reading *r, uint64_t ticks) {
    uint64_t at = jfr_chunk_time(r->k, ticks) - r->s->base_ns;
    return at < UINT64_MAX / 4 ? at : 0;
}

static bool is_wanted(struct reading *r, enum jfr_row row) {
    return r->living ? row == JFR_LIVE : jfr_survey_wants(r->s->survey, row, &r->event);
}

static enum jfr_row named_row(const struct reading *r) {
    char scratch[WIRE_STRING_MAX];
    int field = r->layout->name;
    struct wire_text name = {0};
    if (field >= 0)
        name = jfr_text(r->k, &r->layout->type->field[field], &r->v[field], scratch);
    return jfr_survey_named(r->s->survey, name);
}

/* Returns the thread state. It is a constant, whose name is read only once. */
static enum wire_thread_state state_of(struct reading *r) {
    char scratch[WIRE_STRING_MAX];
    int field = r->layout->state;
    const struct jfr_field *f = field < 0 ? NULL : &r->layout->type->field[field];
    const struct jfr_constant *c =
        f && f->pool && !f->array ? jfr_constant_get(f->type, number(r, field)) : NULL;
    if (!c)
        return WIRE_THREAD_UNKNOWN;
    uint64_t key = (uintptr_t)c->at, known = id_map_value(&r->states, key);
    if (!known) {
        known = jfr_thread_state(jfr_text(r->k, f, &r->v[field], scratch)) + 1u;
        if (id_map_put(&r->states, key, known) < 0)
            r->names.failure = -ENOMEM;
    }
    return (enum wire_thread_state)(known - 1);
}

/* Reads the event; false: it is not wanted. */
static bool take_up(struct reading *r, const struct jfr_event *e) {
    const struct jfr_type *t = jfr_type_by_id(&r->k->types, e->type);
    struct jfr_cursor c = e->c;
    bool named = t && t->event == JFR_NAMED;
    if (!t || t->event >= JFR_TIMED || (!named && !is_wanted(r, t->event)) ||
        !jfr_value_read(&c, t, r->v))
        return false;
    r->row = t->event;
    r->layout = &r->events.row[t->event];
    if (named)
        r->row = named_row(r);
    if (r->s->survey->both && r->row == JFR_EXECUTION && state_of(r) != WIRE_THREAD_UNKNOWN)
        r->row = JFR_EXECUTION_WALL;
    if ((named || r->row != t->event) && (r->row == JFR_ROWS || !is_wanted(r, r->row)))
        return false;
    r->lasts_ns = span(r, r->layout->duration);
    r->time_ns = sample_time(r, number(r, r->layout->start)) + r->lasts_ns;
    return true;
}

static int add_ref(struct reading *r, const uint8_t *at) {
    if (r->refs == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 4096;
        struct ref *ref = realloc(r->ref, cap * sizeof *ref);
        if (!ref)
            return -ENOMEM;
        r->ref = ref;
        r->cap = cap;
    }
    r->ref[r->refs++] = (struct ref){r->time_ns, at};
    return 0;
}

static int by_time(const void *a, const void *b) {
    const struct ref *x = a, *y = b;
    return x->time_ns != y->time_ns ? (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns)
                                    : (x->at > y->at) - (x->at < y->at);
}

static int find_events(struct reading *r) {
    const uint8_t *at = jfr_chunk_first(r->k), *this = at;
    struct jfr_event e;
    int result = 0;
    for (; result == 0 && jfr_chunk_next(r->k, &at, &e); this = at)
        if (take_up(r, &e))
            result = add_ref(r, this);
    if (r->refs)
        qsort(r->ref, r->refs, sizeof *r->ref, by_time);
    return result;
}

/* ---- records ---- */

static void send(struct reading *r, const void *record) {
    int *failure = &r->names.failure;
    if (!*failure)
        *failure = r->s->each(r->s->arg, record);
}

static uint64_t weight_of(const struct reading *r, uint32_t count) {
    int field = r->layout->weight;
    switch (r->row) {
    case JFR_EXECUTION:
    case JFR_EXECUTION_WALL:
    case JFR_WALL:
        return jfr_period(r->s->survey, r->row, r->events.period, r->events.jdk) * count;
    case JFR_NATIVE_METHOD:
        return count;
    case JFR_CPU_TIME:
    case JFR_ENTER:
    case JFR_PARK:
    case JFR_NATIVE_LOCK:
    case JFR_METHOD:
    case JFR_METHOD_TRACE:
        return span(r, field);
    default:
        return number(r, field);
    }
}

/* Blocks are tracked if the file reports which are freed. A block without an address cannot be
 * tracked. */
static uint64_t live_id_of(struct reading *r, struct wire_sample *w, uint32_t frames,
                           uint64_t *rest) {
    uint64_t address = number(r, r->layout->address);
    struct jfr_samples *s = r->s;
    if (r->row == JFR_LIVE ||
        (r->event == WIRE_EVENT_ALLOC && s->living.count &&
         jfr_live_take(&s->living, jfr_live_key(w->tid, w->virtual_id, s->frame, frames),
                       &w->weight, rest)))
        return ++s->live;
    if (r->row != JFR_MALLOC || !address || !s->survey->count[JFR_FREE] ||
        s->blocks.count >= BLOCKS_MAX)
        return 0;
    if (id_map_put(&s->blocks, address, ++s->live) < 0)
        r->names.failure = -ENOMEM;
    return s->live;
}

static void send_lock(struct reading *r, struct jfr_thread thread, uint64_t class) {
    struct jfr_thread owner = jfr_names_thread(&r->names, number(r, r->layout->owner));
    struct wire_lock w = {
        .header = wire_header_word(WIRE_LOCK, sizeof w),
        .time_ns = r->time_ns,
        .waited_ns = r->lasts_ns,
        .lock_id = number(r, r->layout->address),
        .virtual_id = thread.virtual_id,
        .owner_virtual_id = owner.virtual_id,
        .tid = thread.tid,
        .owner_tid = owner.tid,
        .class_id = wire_frame_method(class),
        .flags = r->row == JFR_ENTER ? WIRE_LOCK_MONITOR : 0,
    };
    send(r, &w);
}

/* Collects the frames of the sample, with the class first. False: they are in the missing part of
 * the file. */
static bool gather(struct reading *r, uint64_t class, uint32_t *count) {
    uint32_t frames, n = 0;
    uint64_t stack = number(r, r->layout->stack);
    bool whole;
    const uint64_t *frame = jfr_names_stack(&r->names, stack, &frames, &whole);
    if (!whole && stack && !r->k->whole)
        return false;
    if (class)
        r->s->frame[n++] = class;
    if (frames > WIRE_FRAMES_MAX - n)
        frames = WIRE_FRAMES_MAX - n;
    if (frames)
        memcpy(r->s->frame + n, frame, frames * sizeof *frame);
    n += frames;
    if (n == 0)
        r->s->frame[n++] = wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NONE);
    *count = n;
    return true;
}

static void send_sample(struct reading *r) {
    struct jfr_samples *s = r->s;
    uint64_t samples = number(r, r->layout->samples);
    uint32_t frames, count = samples && samples < UINT32_MAX ? (uint32_t)samples : 1;
    uint64_t class = 0;
    if (r->layout->class >= 0)
        class = jfr_names_class(&r->names, number(r, r->layout->class));
    if (r->layout == &r->events.row[JFR_ALLOC_OUTSIDE] &&
        wire_frame_type(class) == WIRE_FRAME_CLASS)
        class = wire_frame_java(WIRE_FRAME_CLASS_OUTSIDE, wire_frame_method(class), WIRE_BCI_NONE);
    if (!gather(r, class, &frames)) {
        s->left_out++;
        return;
    }
    struct jfr_thread thread = jfr_names_thread(&r->names, number(r, r->layout->thread));
    struct wire_sample w = {
        .time_ns = r->time_ns,
        .weight = weight_of(r, count),
        .virtual_id = thread.virtual_id,
        .tid = thread.tid,
        .count = count,
        .event = (uint8_t)r->event,
        .state = (uint8_t)state_of(r),
        .cpu = WIRE_CPU_NONE,
    };
    if (r->living) {
        if (jfr_live_add(&s->living, jfr_live_key(w.tid, w.virtual_id, s->frame, frames),
                         w.weight) < 0)
            r->names.failure = -ENOMEM;
        return;
    }
    uint64_t rest = 0;
    w.live_id = live_id_of(r, &w, frames, &rest);
    emit_sample(s->emit, &w, s->frame, frames);
    if (rest) {
        w.weight = rest;
        w.count = WIRE_COUNT_NONE;
        w.live_id = 0;
        emit_sample(s->emit, &w, s->frame, frames);
    }
    if (class && r->event == WIRE_EVENT_LOCK)
        send_lock(r, thread, class);
    if (r->time_ns > s->last_ns)
        s->last_ns = r->time_ns;
}

static void send_free(struct reading *r) {
    uint64_t address = number(r, r->layout->address);
    uint64_t live = id_map_value(&r->s->blocks, address);
    id_map_remove(&r->s->blocks, address);
    struct wire_free w = {
        .header = wire_header_word(WIRE_FREE, sizeof w), .time_ns = r->time_ns, .live_id = live};
    if (live)
        send(r, &w);
}

/* A collection takes longer than its pauses, so the end of the pause is computed from the sum
 * of pauses. */
static void send_pause(struct reading *r) {
    uint64_t begin = r->time_ns - r->lasts_ns;
    struct wire_pause w = {.header = wire_header_word(WIRE_PAUSE, sizeof w),
                           .begin_ns = begin,
                           .end_ns = begin + span(r, r->layout->weight),
                           .kind = WIRE_PAUSE_GC};
    if (w.end_ns > w.begin_ns)
        send(r, &w);
}

static int send_all(struct reading *r) {
    for (size_t i = 0; i < r->refs; i++) {
        const uint8_t *at = r->ref[i].at;
        struct jfr_event e;
        if (!jfr_chunk_next(r->k, &at, &e) || !take_up(r, &e))
            continue;
        if (r->row < JFR_SAMPLES)
            send_sample(r);
        else if (r->row == JFR_FREE)
            send_free(r);
        else
            send_pause(r);
        if (r->names.failure || emit_failure(r->s->emit))
            return r->names.failure ? r->names.failure : emit_failure(r->s->emit);
    }
    return 0;
}

static int read_chunk(struct jfr_samples *s, struct jfr_chunk *k, bool living) {
    struct reading *r = calloc(1, sizeof *r);
    if (!r)
        return -ENOMEM;
    r->s = s;
    r->k = k;
    r->living = living;
    id_map_init(&r->states, ID_MAP_MAX);
    jfr_events_bind(&r->events, k);
    jfr_events_survey(&r->events, k, NULL);
    jfr_names_open(&r->names, k, s->emit, s->each, s->arg);
    int result = jfr_chunk_read_constants(k);
    if (result == 0)
        result = find_events(r);
    if (result == 0)
        result = send_all(r);
    jfr_names_close(&r->names);
    id_map_free(&r->states);
    free(r->ref);
    free(r);
    return result;
}

int jfr_samples_read_living(struct jfr_samples *s, struct jfr_chunk *k) {
    return read_chunk(s, k, true);
}

int jfr_samples_read(struct jfr_samples *s, struct jfr_chunk *k) {
    return read_chunk(s, k, false);
}
