#include "core/decode/decoder_parts.h"

#include "core/wire/wire_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* With its share of tables that double. */
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
    uint16_t least; /* bytes; fewer: bad */
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
    {WIRE_STUB, sizeof(struct wire_stub), decoder_decode_stub},
    {WIRE_LOST, sizeof(struct wire_lost), decoder_decode_lost},
    {WIRE_LOG, sizeof(struct wire_log), decoder_decode_log},
    {WIRE_PAUSE, sizeof(struct wire_pause), decoder_decode_pause},
    {WIRE_WINDOW, sizeof(struct wire_window), decoder_decode_window},
    {WIRE_SYMBOL, sizeof(struct wire_symbol), decoder_decode_symbol},
    {WIRE_JVM, sizeof(struct wire_jvm), decoder_decode_jvm},
    {WIRE_ENVIRONMENT, sizeof(struct wire_environment), decoder_decode_environment},
    {WIRE_MARK, sizeof(struct wire_mark), decoder_decode_mark},
};

void decoder_decode(struct decoder *d, const void *record) {
    uint64_t word;
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

/* A thread that nobody wants to know of: whoever looks on has no filter of its own. */
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

/* Those of `fresh` get it spelled out. */
static void write_record(struct decoder *d, const void *record, const void *spelled,
                         uint32_t fresh) {
    if (d->recording)
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
    /* Types that only readers write would be a forgery here, unless it is a reader's stream. */
    if ((type < WIRE_SYMBOL && type != WIRE_PAD) || (type == WIRE_SYMBOL && d->replay))
        write_record(d, record, spelled, fresh);
}

void decoder_libraries_changed(struct decoder *d) {
    address_names_refresh(&d->addresses);
}
