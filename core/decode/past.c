#include "core/decode/past.h"

#include "core/base/clock.h"
#include "core/decode/decoder_parts.h"
#include "core/profile/snapshot/history_read.h"
#include "core/wire/record_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define OWN_ID 0x80000000u              /* ids of methods and classes; agents count from 1 */
#define OWN_ADDRESS (UINT64_C(1) << 54) /* no process has memory there */
#define OWN_IDS_MAX (1u << 22)
#define REST_NAME "[stack not kept]"
#define PAUSES_MAX 3600u /* the last seconds of which pauses are written */
#define TURN_NS UINT64_C(50000000)
#define TURN_BYTES (1u << 20)
#define TURN_ITEMS 64u /* items between two reads of the clock */
#define DIGIT_BITS 11
#define DIGITS 3u /* digits of a node's number, and of a thread's */

struct past {
    struct decoder *d;
    struct feed *feed;
    pthread_mutex_t *lock;
    struct history_reading *reading[WIRE_EVENTS]; /* NULL: already written, or not taken yet */
    uint32_t taken;                               /* number of events taken */
    uint32_t event;                               /* the event that is being written */
    uint32_t digit;                               /* the next digit by which its items are sorted */
    struct history_item *spare;                   /* memory for sorting, or NULL */
    size_t at;                                    /* the item to write next */
    struct history_item rest;                     /* samples of the current thread without stacks */
    uint64_t bytes, bytes_max;                    /* written in earlier turns; their limit */
    uint64_t turn_bytes;                          /* feed_written() at the turn's beginning */
    struct id_map java;                           /* method and line → id */
    struct id_map told;                           /* other methods that were written */
    struct id_map ended;                          /* tids of ended threads */
    struct profile_frame frame[PROFILE_STACK_MAX];
    uint64_t record[WIRE_RECORD_BYTES_MAX / 8]; /* the record that is being built */
};

/* Names. The record of a sample is built only after the names of all its frames were written. */

/* A method has one id for each of its sampled lines. An id's line table has only that line. */
static uint32_t java_id(struct past *p, uint32_t method, uint16_t line, const struct method *m) {
    uint64_t key = (UINT64_C(1) << 48) | (uint64_t)method << 16 | line;
    uint32_t id;
    if (id_map_get(&p->java, key, &id))
        return id;
    id = OWN_ID + p->java.count;
    if (id_map_put(&p->java, key, id) != 0)
        return OWN_ID;
    const uint16_t pair[2] = {0, line};
    record_build_method(p->record, id, wire_text_of(m->class_name), wire_text_of(m->name),
                        wire_text_of(m->signature), pair, line ? sizeof pair : 0);
    feed_write(p->feed, p->record);
    return id;
}

/* True: the method's name has to be written now. */
static bool is_new(struct past *p, uint32_t method) {
    uint32_t known;
    return !id_map_get(&p->told, method + UINT64_C(1), &known) &&
           id_map_put(&p->told, method + UINT64_C(1), 1) == 0;
}

static void tell_class(struct past *p, uint32_t method, const struct method *m) {
    record_build_class(p->record, OWN_ID + method, wire_text_of(m->name));
    feed_write(p->feed, p->record);
}

static void tell_stub(struct past *p, uint32_t method, const char *name) {
    record_build_stub(p->record, OWN_ADDRESS + ((uint64_t)method << 4), wire_text_of(name));
    feed_write(p->feed, p->record);
}

static uint64_t java_word(struct past *p, const struct profile_frame *f, const struct method *m) {
    static const uint8_t type[TIERS] = {
        [TIER_NONE] = WIRE_FRAME_NATIVE_METHOD,
        [TIER_INTERPRETED] = WIRE_FRAME_INTERPRETED,
        [TIER_C1] = WIRE_FRAME_C1,
        [TIER_C2] = WIRE_FRAME_C2,
        [TIER_INLINED] = WIRE_FRAME_INLINED,
    };
    uint32_t id = java_id(p, f->method, f->line, m);
    return wire_frame_java(type[f->tier < TIERS ? f->tier : TIER_NONE], id,
                           f->line ? 0 : WIRE_BCI_NONE);
}

static uint64_t error_word(struct past *p, uint32_t method, const struct method *m) {
    for (uint32_t i = 0; i < WIRE_FAILURES; i++)
        if (p->d->failure_method[i] == method)
            return (uint64_t)WIRE_FRAME_ERROR << 56 | i;
    if (is_new(p, method))
        tell_stub(p, method, m->name);
    return wire_frame_address(WIRE_FRAME_STUB, OWN_ADDRESS + ((uint64_t)method << 4));
}

static uint64_t frame_word(struct past *p, const struct profile_frame *f, bool leaf) {
    const struct method m = *method_table_get(profile_methods_const(p->d->profile), f->method);
    uint64_t address = OWN_ADDRESS + ((uint64_t)f->method << 4);
    switch (m.kind) {
    case METHOD_JAVA:
        return java_word(p, f, &m);
    case METHOD_COMPILING:
        return wire_frame_java(WIRE_FRAME_COMPILING, java_id(p, f->method, 0, &m), WIRE_BCI_NONE);
    case METHOD_NATIVE:
    case METHOD_CPP:
    case METHOD_KERNEL:
        if (is_new(p, f->method))
            feed_write_symbol(p->feed, address, m.kind, m.name, m.module);
        /* The decoder looks up a return address one byte earlier. */
        return wire_frame_address(WIRE_FRAME_NATIVE, address + !leaf);
    case METHOD_CLASS:
        if (is_new(p, f->method))
            tell_class(p, f->method, &m);
        return wire_frame_java(*m.module ? WIRE_FRAME_CLASS_OUTSIDE : WIRE_FRAME_CLASS,
                               OWN_ID + f->method, WIRE_BCI_NONE);
    default:
        return error_word(p, f->method, &m);
    }
}

static void tell_thread(struct past *p, const struct history_thread *t) {
    if (!t->name[0] || (t->is_virtual && !t->java_id))
        return;
    record_build_thread(p->record, t->tid, t->java_id, t->is_virtual ? WIRE_THREAD_VIRTUAL : 0,
                        wire_text_of(t->name));
    feed_write(p->feed, p->record);
}

/* Remembers a thread that had ended at that moment. */
static void note_end(struct past *p, const struct history_thread *t) {
    uint32_t known;
    uint64_t key = UINT64_C(1) << 32 | t->tid;
    if (!t->is_virtual && !kept_records_get(&p->d->kept.threads, key) && t->name[0] &&
        !id_map_get(&p->ended, key, &known))
        id_map_put(&p->ended, key, t->tid);
}

/* Samples. */

static uint64_t bytes_told(const struct past *p) {
    return p->bytes + feed_written(p->feed) - p->turn_bytes;
}

/* Takes as much of the item's count as fits into one record. */
static uint32_t take_count(struct history_item *it) {
    uint32_t count = it->count < DECODER_COUNT_MAX ? (uint32_t)it->count : DECODER_COUNT_MAX;
    it->count -= count;
    return count ? count : WIRE_COUNT_NONE;
}

static void say_again(struct past *p, uint32_t tid, struct history_item *it) {
    struct wire_repeat w = {.header = wire_header_word(WIRE_REPEAT, sizeof w),
                            .time_ns = it->second * NS_PER_SECOND + NS_PER_SECOND / 2,
                            .tid = tid,
                            .event = (uint8_t)p->event,
                            .state = it->state};
    while (it->weight || it->count) {
        w.weight = it->weight < DECODER_WEIGHT_MAX ? it->weight : DECODER_WEIGHT_MAX;
        w.count = take_count(it);
        it->weight -= w.weight;
        feed_write(p->feed, &w);
    }
}

static void say(struct past *p, const struct history_thread *t, struct history_item *it,
                bool with_stack) {
    const struct query q = {.event = (int)p->event};
    uint64_t word[WIRE_FRAMES_MAX];
    uint32_t frames = with_stack ? history_stack(p->d->profile, &q, it->node, p->frame) : 0;
    frames = frames < WIRE_FRAMES_MAX ? frames : WIRE_FRAMES_MAX;
    for (uint32_t i = 0; i < frames; i++)
        word[i] = frame_word(p, &p->frame[i], i == 0);
    if (frames == 0) {
        if (is_new(p, METHOD_TABLE_MAX))
            tell_stub(p, METHOD_TABLE_MAX, REST_NAME);
        word[frames++] =
            wire_frame_address(WIRE_FRAME_STUB, OWN_ADDRESS + ((uint64_t)METHOD_TABLE_MAX << 4));
    }
    struct wire_sample *w = (struct wire_sample *)(void *)p->record;
    *w = (struct wire_sample){
        .time_ns = it->second * NS_PER_SECOND + NS_PER_SECOND / 2,
        .weight = it->weight < DECODER_WEIGHT_MAX ? it->weight : DECODER_WEIGHT_MAX,
        .count = take_count(it),
        .virtual_id = t->is_virtual ? t->java_id : 0,
        .tid = t->tid,
        .event = (uint8_t)p->event,
        .state = it->state,
        .frames = (uint16_t)frames,
        .cpu = WIRE_CPU_NONE,
    };
    it->weight -= w->weight;
    memcpy(w->frame, word, frames * sizeof word[0]);
    p->record[0] = wire_header_word(WIRE_SAMPLE, (uint32_t)(sizeof *w + frames * sizeof word[0]));
    feed_write(p->feed, p->record);
}

/* Sorts by thread, node and second, one digit per call. The items are already in order of seconds,
 * and the sort keeps that order. */
static int sort_by_digit(struct past *p, struct history_reading *r) {
    static_assert(DIGITS * DIGIT_BITS >= 32, "the digits cover all bits of a number");
    size_t end[1u << DIGIT_BITS] = {0};
    bool by_thread = p->digit >= DIGITS;
    uint32_t shift = p->digit % DIGITS * DIGIT_BITS, mask = (1u << DIGIT_BITS) - 1;
    for (size_t i = 0; i < r->items; i++)
        end[(by_thread ? r->item[i].thread : r->item[i].node) >> shift & mask]++;
    if (end[0] == r->items)
        return 0;
    if (!p->spare)
        p->spare = malloc(r->items * sizeof *p->spare);
    if (!p->spare)
        return -ENOMEM;
    for (uint32_t i = 1; i <= mask; i++)
        end[i] += end[i - 1];
    for (size_t i = r->items; i-- > 0;)
        p->spare[--end[(by_thread ? r->item[i].thread : r->item[i].node) >> shift & mask]] =
            r->item[i];
    struct history_item *sorted = p->spare;
    p->spare = r->item;
    r->item = sorted;
    return 0;
}

static void say_rest(struct past *p, const struct history_thread *t) {
    struct history_item *it = &p->rest;
    if (it->weight || it->count) {
        say(p, t, it, false);
        say_again(p, t->tid, it);
    }
    *it = (struct history_item){0};
}

static void keep_as_rest(struct past *p, const struct history_item *it) {
    if (!p->rest.second || it->second < p->rest.second)
        p->rest.second = it->second;
    p->rest.weight += it->weight;
    p->rest.count += it->count;
}

/* A stack is written once as a sample; its other seconds are repeats of that sample. */
static void tell_item(struct past *p, struct history_reading *r, size_t i) {
    struct history_item *it = &r->item[i];
    const struct history_thread *t = &r->thread[it->thread];
    bool new_thread = i == 0 || it->thread != it[-1].thread;
    if (new_thread)
        tell_thread(p, t);
    if (bytes_told(p) > p->bytes_max) {
        keep_as_rest(p, it);
    } else {
        if (new_thread || it->node != it[-1].node)
            say(p, t, it, true);
        say_again(p, t->tid, it);
    }
    if (i + 1 == r->items || it[1].thread != it->thread)
        say_rest(p, t);
}

/* Writes items of one event. 1: there are more; 0: all are written; -ENOMEM. */
static int tell_event(struct past *p, struct history_reading *r, uint64_t until_ns) {
    for (; p->digit < 2 * DIGITS && r->items; p->digit++) {
        if (clock_now_ns() > until_ns)
            return 1;
        if (sort_by_digit(p, r) != 0)
            return -ENOMEM;
    }
    while (p->at < r->items) {
        tell_item(p, r, p->at++);
        if (feed_written(p->feed) - p->turn_bytes > TURN_BYTES ||
            (p->at % TURN_ITEMS == 0 && clock_now_ns() > until_ns))
            return p->at < r->items;
    }
    return 0;
}

static void end_event(struct past *p) {
    history_reading_free(p->reading[p->event]);
    p->reading[p->event++] = NULL;
    free(p->spare);
    p->spare = NULL;
    p->digit = 0;
    p->at = 0;
}

static void write_pauses(struct past *p) {
    uint64_t first, last, kept;
    profile_span(p->d->profile, &first, &last, &kept);
    pthread_mutex_lock(p->lock);
    uint64_t from = last - first < PAUSES_MAX ? first : last - PAUSES_MAX;
    for (uint64_t second = from; second <= last && last; second++) {
        struct profile_second at;
        profile_timeline(p->d->profile, WIRE_EVENT_CPU, second, 1, &at);
        for (uint32_t kind = 0; kind < 2; kind++) {
            struct wire_pause w = {.header = wire_header_word(WIRE_PAUSE, sizeof w),
                                   .begin_ns = second * NS_PER_SECOND,
                                   .kind = kind == 0 ? WIRE_PAUSE_GC : WIRE_PAUSE_SAFEPOINT};
            w.end_ns = w.begin_ns + at.paused_ns[kind];
            if (at.paused_ns[kind])
                feed_write(p->feed, &w);
        }
    }
    pthread_mutex_unlock(p->lock);
}

static void write_ends(struct past *p) {
    uint32_t i = 0;
    for (const struct id_pair *pair; (pair = id_map_next(&p->ended, &i));) {
        struct wire_thread_end w = {.header = wire_header_word(WIRE_THREAD_END, sizeof w),
                                    .tid = (uint32_t)pair->value};
        feed_write(p->feed, &w);
    }
}

struct past *past_new(struct decoder *d, pthread_mutex_t *lock, struct feed *f,
                      uint64_t bytes_max) {
    struct past *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->d = d;
    p->feed = f;
    p->lock = lock;
    p->bytes_max = bytes_max;
    id_map_init(&p->java, OWN_IDS_MAX);
    id_map_init(&p->told, OWN_IDS_MAX);
    id_map_init(&p->ended, DECODER_THREADS_MAX);
    return p;
}

void past_free(struct past *p) {
    if (!p)
        return;
    for (uint32_t i = 0; i < WIRE_EVENTS; i++)
        history_reading_free(p->reading[i]);
    free(p->spare);
    id_map_free(&p->java);
    id_map_free(&p->told);
    id_map_free(&p->ended);
    free(p);
}

int past_take(struct past *p) {
    const struct query q = {.event = (int)p->taken};
    pthread_mutex_lock(p->lock);
    struct history_reading *r = history_read(p->d->profile, &q);
    pthread_mutex_unlock(p->lock);
    if (!r)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->threads; i++)
        note_end(p, &r->thread[i]);
    p->reading[p->taken++] = r;
    if (p->taken < WIRE_EVENTS)
        return 1;
    write_pauses(p);
    return 0;
}

int past_tell(struct past *p) {
    uint64_t until_ns = clock_now_ns() + TURN_NS;
    p->turn_bytes = feed_written(p->feed);
    int rc = 0;
    while (p->event < WIRE_EVENTS && rc == 0) {
        rc = tell_event(p, p->reading[p->event], until_ns);
        if (rc == 0)
            end_event(p);
    }
    p->bytes = bytes_told(p);
    p->turn_bytes = feed_written(p->feed);
    if (rc != 0)
        return rc;
    write_ends(p);
    return 0;
}
