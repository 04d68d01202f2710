#include "core/session/decoder_parts.h"

#include "core/session/clean_text.h"
#include "core/session/session.h"

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
    held_samples_init(&d->held);
    struct method_table *t = profile_methods(p);
    for (int i = 0; i < SOURCES; i++)
        d->unknown[i] =
            method_table_intern(t, unknown_name[i].kind, "", unknown_name[i].name, "", "");
    for (int i = 0; i < WIRE_FAILURES; i++) {
        char name[64];
        snprintf(name, sizeof name, "[%s]", session_failure_name[i]);
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
    free(d);
}

static bool decode_lost(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_lost *w = record;
    d->counts.lost += w->samples;
    return true;
}

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

static bool decode_log(struct decoder *d, const void *record, uint32_t length) {
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

static bool decode_jvm(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_jvm *w = record;
    size_t left = length - sizeof *w;
    if (!d->replay || w->name_bytes > left || w->version_bytes > left - w->name_bytes)
        return false;
    d->notes.pid = w->pid;
    clean_text(d->notes.jvm_name, sizeof d->notes.jvm_name, w->bytes, w->name_bytes);
    clean_text(d->notes.jvm_version, sizeof d->notes.jvm_version, w->bytes + w->name_bytes,
               w->version_bytes);
    return true;
}

static bool decode_mark(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    if (!d->replay)
        return false;
    memcpy(&d->notes.mark, record, sizeof d->notes.mark);
    if (!d->notes.marked)
        d->notes.first_mark_ns = d->notes.mark.time_ns;
    d->notes.marked = true;
    return true;
}

static const struct {
    uint16_t type;
    uint16_t least; /* bytes; fewer: bad */
    bool (*decode)(struct decoder *d, const void *record, uint32_t length);
} record_type[] = {
    {WIRE_SAMPLE, sizeof(struct wire_sample), decoder_decode_sample},
    {WIRE_METHOD, sizeof(struct wire_method), decoder_decode_method},
    {WIRE_CLASS, sizeof(struct wire_class), decoder_decode_class},
    {WIRE_THREAD, sizeof(struct wire_thread), decoder_decode_thread},
    {WIRE_THREAD_END, sizeof(struct wire_thread_end), decoder_decode_thread_end},
    {WIRE_STUB, sizeof(struct wire_stub), decoder_decode_stub},
    {WIRE_LOST, sizeof(struct wire_lost), decode_lost},
    {WIRE_LOG, sizeof(struct wire_log), decode_log},
    {WIRE_SYMBOL, sizeof(struct wire_symbol), decoder_decode_symbol},
    {WIRE_JVM, sizeof(struct wire_jvm), decode_jvm},
    {WIRE_MARK, sizeof(struct wire_mark), decode_mark},
};

void decoder_decode(struct decoder *d, const void *record) {
    uint64_t word;
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

void decoder_prepare(struct decoder *d, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    uint32_t type = wire_header_type(word);
    const struct wire_sample *w =
        type == WIRE_SAMPLE ? decoder_as_sample(record, wire_header_length(word)) : NULL;
    for (uint32_t i = 0; w && i < w->frames; i++) {
        uint32_t frame = wire_frame_type(w->frame[i]);
        if (frame != WIRE_FRAME_NATIVE && frame != WIRE_FRAME_KERNEL)
            continue;
        uint64_t address = decoder_looked_up(w, i);
        if (!address_names_look_up(&d->addresses, address) || !d->recording)
            continue;
        const struct address_name *a = address_names_get(&d->addresses, address);
        recording_write_symbol(d->recording, address, a->kind, a->name, a->module);
    }
    /* Types that only readers write would be a forgery here. */
    if (d->recording && type < WIRE_SYMBOL && type != WIRE_PAD)
        recording_write(d->recording, record);
}

void decoder_libraries_changed(struct decoder *d) {
    address_names_refresh(&d->addresses);
}
