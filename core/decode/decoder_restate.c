/* For a recording that begins in the middle of a stream: writes the names known so far, and the
 * samples that are repeated from then on. */
#include "core/decode/decoder_parts.h"

#include "core/wire/record_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 65536u
#define THREAD_BYTES_MAX (16u << 20)
#define VIRTUALS_MAX 32768u
#define VIRTUAL_BYTES_MAX (8u << 20)
#define REPEATED_MAX 65536u
#define REPEATED_BYTES_MAX (32u << 20)

void decoder_keep_init(struct decoder_kept *k) {
    kept_records_init(&k->threads, THREADS_MAX, THREAD_BYTES_MAX);
    kept_records_init(&k->virtuals, VIRTUALS_MAX, VIRTUAL_BYTES_MAX);
    kept_records_init(&k->repeated, REPEATED_MAX, REPEATED_BYTES_MAX);
}

void decoder_keep_free(struct decoder_kept *k) {
    kept_records_free(&k->threads);
    kept_records_free(&k->virtuals);
    kept_records_free(&k->repeated);
}

/* Copies that are kept while the stream is decoded. */

/* A map's key is never 0. */
static uint64_t thread_key(uint32_t tid) {
    return UINT64_C(1) << 32 | tid;
}

static void keep_thread(struct decoder_kept *k, const struct wire_thread *w) {
    if (!(w->flags & WIRE_THREAD_VIRTUAL))
        kept_records_put(&k->threads, thread_key(w->tid), w);
    else if (w->java_id != 0)
        kept_records_put(&k->virtuals, w->java_id, w);
}

static uint32_t listeners(const struct decoder *d) {
    uint32_t bits = d->recording ? DECODER_FILE : 0;
    for (uint32_t i = 0; i < DECODER_FEEDS; i++)
        bits |= d->feed[i] ? decoder_feed_bit(i) : 0;
    return bits;
}

/* Only wall clock samples are repeated. */
static void keep_sample(struct decoder *d, const struct wire_sample *w) {
    struct kept_record *r = NULL;
    if (w->event == WIRE_EVENT_WALL)
        r = kept_records_put(&d->kept.repeated, thread_key(w->tid), w);
    if (r)
        r->written = listeners(d) & ~(decoder_is_ours(d, w) ? 0 : DECODER_FILE);
}

void decoder_keep(struct decoder *d, const void *record, uint32_t type, uint32_t length) {
    struct stack stack;
    if (type == WIRE_THREAD && length >= sizeof(struct wire_thread)) {
        keep_thread(&d->kept, record);
    } else if (type == WIRE_THREAD_END && length >= sizeof(struct wire_thread_end)) {
        const struct wire_thread_end *w = record;
        kept_records_remove(&d->kept.threads, thread_key(w->tid));
        kept_records_remove(&d->kept.repeated, thread_key(w->tid));
    } else if (type == WIRE_SAMPLE && decoder_stack(record, length, &stack)) {
        keep_sample(d, record);
    }
}

/* If a sample is older than the recording, its first repeat is written as a sample of its own. */
const void *decoder_spell_out(struct decoder *d, const void *record, uint32_t type, uint32_t length,
                              uint32_t *fresh) {
    const struct wire_repeat *w = record;
    *fresh = 0;
    if (type != WIRE_REPEAT || length < sizeof *w || w->event != WIRE_EVENT_WALL)
        return record;
    struct kept_record *r = kept_records_get(&d->kept.repeated, thread_key(w->tid));
    *fresh = r ? listeners(d) & ~r->written : 0;
    if (!*fresh)
        return record;
    struct wire_sample *s = (struct wire_sample *)r->record;
    r->written |= *fresh;
    s->time_ns = w->time_ns;
    s->weight = w->weight;
    s->count = w->count;
    s->state = w->state;
    return s;
}

/* Writing of names. */

struct statement {
    struct recording_writer *file; /* the receiver is this, `feed` or `decoder` */
    struct feed *feed;
    struct decoder *decoder;
    uint8_t *record; /* WIRE_RECORD_BYTES_MAX */
};

static void put(struct statement *s, const void *record) {
    if (s->file) {
        recording_write(s->file, record);
    } else if (s->feed) {
        feed_write(s->feed, record);
    } else {
        decoder_prepare(s->decoder, record);
        decoder_decode(s->decoder, record);
    }
}

static void put_symbol(struct statement *s, uint64_t address, uint32_t kind, const char *name,
                       const char *module) {
    record_build_symbol(s->record, address, kind, wire_text_of(name), wire_text_of(module));
    put(s, s->record);
}

static void state_method(struct statement *s, uint32_t id, const struct method *m,
                         const struct line_table *lines) {
    uint32_t pairs = 0;
    const void *pair = lines ? line_table_pairs(lines, &pairs) : NULL;
    record_build_method(s->record, id, wire_text_of(m->class_name), wire_text_of(m->name),
                        wire_text_of(m->signature), pair, (size_t)pairs * LINE_PAIR_BYTES);
    put(s, s->record);
}

static void state_names(struct decoder *d, struct statement *s) {
    const struct id_map *index = &d->names.index;
    const struct method_table *t = profile_methods_const(d->profile);
    uint32_t i = 0;
    for (const struct id_pair *pair; (pair = id_map_next(index, &i));) {
        uint64_t id = pair->key & WIRE_FRAME_ADDRESS_MASK;
        const struct known_name *n = &d->names.name[pair->value];
        const struct method *m = method_table_get(t, n->method);
        switch ((enum source)(pair->key >> 56)) {
        case SOURCE_METHOD:
            state_method(s, (uint32_t)id, m, n->lines);
            break;
        case SOURCE_CLASS:
            record_build_class(s->record, (uint32_t)id, wire_text_of(m->name));
            put(s, s->record);
            break;
        case SOURCE_STUB:
            record_build_stub(s->record, id, wire_text_of(m->name));
            put(s, s->record);
            break;
        default:
            break;
        }
    }
}

static void state_addresses(struct decoder *d, struct statement *s) {
    const struct address_names *a = &d->addresses;
    uint32_t i = 0;
    for (const struct id_pair *pair; (pair = id_map_next(&a->index, &i));) {
        const struct address_name *n = &a->entry[pair->value];
        const struct method *m =
            n->method == METHOD_NONE
                ? NULL
                : method_table_get(profile_methods_const(d->profile), n->method);
        uint64_t address = pair->key == UINT64_MAX ? 0 : pair->key;
        if (m)
            put_symbol(s, address, m->kind, m->name, m->module);
        else
            put_symbol(s, address, n->kind, n->name, n->module);
    }
}

static void state_kept(const struct kept_records *k, struct statement *s) {
    for (uint32_t i = 0; i < k->count; i++)
        if (k->slot[i].key)
            put(s, k->slot[i].record);
}

static int restate(struct decoder *d, struct statement *s, uint32_t bit) {
    s->record = malloc(WIRE_RECORD_BYTES_MAX);
    if (!s->record)
        return -ENOMEM;
    state_names(d, s);
    if (!s->decoder)
        state_addresses(d, s);
    state_kept(&d->kept.threads, s);
    state_kept(&d->kept.virtuals, s);
    for (uint32_t i = 0; i < d->kept.repeated.count; i++)
        d->kept.repeated.slot[i].written &= ~bit;
    free(s->record);
    return 0;
}

int decoder_restate(struct decoder *d, struct recording_writer *out) {
    return restate(d, &(struct statement){.file = out}, DECODER_FILE);
}

int decoder_restate_feed(struct decoder *d, uint32_t slot, struct feed *out) {
    return restate(d, &(struct statement){.feed = out}, decoder_feed_bit(slot));
}

int decoder_restate_to(struct decoder *d, struct decoder *out) {
    return restate(d, &(struct statement){.decoder = out}, 0);
}
