#include "core/decode/decoder_parts.h"

#include "core/base/clean_text.h"

#include <string.h>

uint32_t decoder_intern(struct decoder *d, enum source source, enum method_kind kind,
                        const char *class_name, const char *name, const char *signature,
                        const char *module) {
    struct method_table *t = profile_methods(d->profile);
    uint32_t before = method_table_count(t);
    uint32_t id = METHOD_NONE;
    if (d->text_bytes < DECODER_TEXT_BYTES_MAX)
        id = method_table_intern(t, kind, class_name, name, signature, module);
    if (id == METHOD_NONE) {
        d->counts.refused++;
        return d->unknown[source];
    }
    if (method_table_count(t) > before)
        d->text_bytes +=
            64 + strlen(class_name) + strlen(name) + strlen(signature) + strlen(module);
    return id;
}

/* Takes over `lines`. */
static void bind_name(struct decoder *d, uint64_t key, uint32_t method, struct line_table *lines) {
    int rc = name_table_put(&d->names, key, method, lines);
    if (rc != 0)
        d->counts.refused++;
    if (rc >= 0)
        decoder_release(d, key);
}

struct cursor {
    const uint8_t *bytes;
    size_t left;
};

/* Cleans the next `length` bytes into `out`. False: the record does not have so many. */
static bool text(struct cursor *c, size_t length, char out[WIRE_STRING_MAX + 1]) {
    if (length > c->left)
        return false;
    clean_text(out, WIRE_STRING_MAX + 1, c->bytes, length);
    c->bytes += length;
    c->left -= length;
    return true;
}

bool decoder_decode_method(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_method *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char class_name[WIRE_STRING_MAX + 1];
    char name[WIRE_STRING_MAX + 1];
    char signature[WIRE_STRING_MAX + 1];
    if (!text(&c, w->class_bytes, class_name) || !text(&c, w->name_bytes, name) ||
        !text(&c, w->signature_bytes, signature))
        return false;
    uint32_t odd = (uint32_t)(w->class_bytes + w->name_bytes + w->signature_bytes) & 1;
    if (w->line_bytes > 0 && (c.left < odd || w->line_bytes > c.left - odd))
        return false;
    struct line_table *lines =
        w->line_bytes > 0 ? line_table_new(c.bytes + odd, w->line_bytes) : NULL;
    bind_name(d, decoder_key(SOURCE_METHOD, w->method_id),
              decoder_intern(d, SOURCE_METHOD, METHOD_JAVA, class_name, name, signature, ""),
              lines);
    return true;
}

bool decoder_decode_class(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_class *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char name[WIRE_STRING_MAX + 1];
    if (!text(&c, w->name_bytes, name))
        return false;
    bind_name(d, decoder_key(SOURCE_CLASS, w->class_id),
              decoder_intern(d, SOURCE_CLASS, METHOD_CLASS, "", name, "", ""), NULL);
    return true;
}

bool decoder_decode_stub(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_stub *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char name[WIRE_STRING_MAX + 1];
    if (!text(&c, w->name_bytes, name))
        return false;
    bind_name(d, decoder_key(SOURCE_STUB, w->begin),
              decoder_intern(d, SOURCE_STUB, METHOD_STUB, "", name, "", ""), NULL);
    return true;
}

bool decoder_decode_symbol(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_symbol *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char name[WIRE_STRING_MAX + 1];
    char module[WIRE_STRING_MAX + 1];
    if (!d->replay || !text(&c, w->name_bytes, name) || !text(&c, w->module_bytes, module) ||
        (w->kind != METHOD_NATIVE && w->kind != METHOD_CPP && w->kind != METHOD_KERNEL))
        return false;
    address_names_put(&d->addresses, w->address,
                      decoder_intern(d, SOURCE_NATIVE, w->kind, "", name, "", module));
    return true;
}

/* Values of the map of threads; a name is kept as its hash with bit 1 set. */
enum { THREAD_NAMELESS = 0, THREAD_ENDED = 1, THREAD_NAMED = 2 };

static uint64_t thread_key(uint32_t tid) {
    return UINT64_C(1) << 32 | tid;
}

void decoder_see_thread(struct decoder *d, uint32_t tid) {
    uint32_t known;
    if (id_map_get(&d->threads, thread_key(tid), &known) && known != THREAD_ENDED)
        return;
    if (id_map_put(&d->threads, thread_key(tid), THREAD_NAMELESS) == 0)
        d->nameless_threads = true;
}

static uint32_t hash_name(const char *s) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 16777619u;
    return h | THREAD_NAMED;
}

/* The profile bounds these by itself, and lets names go with their threads. */
static bool decode_virtual_thread(struct decoder *d, uint64_t java_id, uint32_t carrier,
                                  const char *name) {
    if (java_id == 0)
        return false;
    if (d->filter) {
        thread_filter_virtual_name(d->filter, java_id, carrier, name);
        decoder_release(d, decoder_thread_key(carrier, java_id));
    }
    if (profile_virtual_name(d->profile, java_id, name) != 0)
        d->counts.refused++;
    return true;
}

bool decoder_decode_thread(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_thread *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char name[WIRE_STRING_MAX + 1];
    if (!text(&c, w->name_bytes, name))
        return false;
    if (w->flags & WIRE_THREAD_VIRTUAL)
        return decode_virtual_thread(d, w->java_id, w->tid, name);
    if (d->filter) {
        thread_filter_name(d->filter, w->tid, name);
        decoder_release(d, decoder_thread_key(w->tid, 0));
    }
    uint32_t before = THREAD_NAMELESS;
    uint32_t now = hash_name(name);
    id_map_get(&d->threads, thread_key(w->tid), &before);
    if (before != now) {
        /* The profile keeps every name it was given: a thread renamed without end has an end. */
        if (d->text_bytes >= DECODER_TEXT_BYTES_MAX ||
            id_map_put(&d->threads, thread_key(w->tid), now) != 0) {
            d->counts.refused++;
            return true;
        }
        d->text_bytes += 64 + strlen(name);
    }
    if (profile_thread_name(d->profile, w->tid, w->java_id, name) != 0)
        d->counts.refused++;
    return true;
}

bool decoder_decode_thread_end(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_thread_end *w = record;
    uint32_t known;
    decoder_forget_thread(d, w->tid);
    id_map_remove(&d->policies, thread_key(w->tid));
    if (d->filter)
        thread_filter_end(d->filter, w->tid);
    if (id_map_get(&d->threads, thread_key(w->tid), &known)) {
        id_map_put(&d->threads, thread_key(w->tid), THREAD_ENDED);
        profile_thread_end(d->profile, w->tid);
    }
    return true;
}

bool decoder_lacks_name(const struct decoder *d, uint32_t tid) {
    uint32_t known;
    return id_map_get(&d->threads, thread_key(tid), &known) && known == THREAD_NAMELESS;
}
