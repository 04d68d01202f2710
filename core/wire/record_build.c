#include "core/wire/record_build.h"

#include <string.h>

#define CHARACTER 4 /* bytes, at most */

static_assert(sizeof(struct wire_method) + (size_t)3 * WIRE_STRING_MAX + 8 <= RECORD_BUILD_BYTES,
              "a method's names");

struct wire_text wire_text_of(const char *s) {
    return wire_text_fit((struct wire_text){s, strnlen(s, WIRE_STRING_MAX + 1)});
}

struct wire_text wire_text_fit(struct wire_text t) {
    if (!t.data)
        return (struct wire_text){"", 0};
    if (t.bytes <= WIRE_STRING_MAX)
        return t;
    t.bytes = WIRE_STRING_MAX;
    while (t.bytes > WIRE_STRING_MAX - CHARACTER && ((uint8_t)t.data[t.bytes] & 0xc0) == 0x80)
        t.bytes--;
    return t;
}

static uint8_t *append(uint8_t *at, struct wire_text t) {
    if (t.bytes)
        memcpy(at, t.data, t.bytes);
    return at + t.bytes;
}

static void finish(void *out, enum wire_type type, uint8_t *end) {
    size_t bytes = (size_t)(end - (uint8_t *)out), whole = (bytes + 7) & ~(size_t)7;
    uint64_t word = wire_header_word(type, (uint32_t)whole);
    memset(end, 0, whole - bytes);
    memcpy(out, &word, sizeof word);
}

void record_build_method(void *out, uint32_t id, struct wire_text class_name, struct wire_text name,
                         struct wire_text signature, const void *lines, size_t line_bytes) {
    struct wire_method *w = out;
    class_name = wire_text_fit(class_name);
    name = wire_text_fit(name);
    signature = wire_text_fit(signature);
    *w = (struct wire_method){.method_id = id,
                              .class_bytes = (uint16_t)class_name.bytes,
                              .name_bytes = (uint16_t)name.bytes,
                              .signature_bytes = (uint16_t)signature.bytes};
    uint8_t *at = append(append(append(w->bytes, class_name), name), signature);
    size_t used = (size_t)(at - (uint8_t *)out);
    if (line_bytes > 0 && line_bytes < WIRE_RECORD_BYTES_MAX - used - 8) {
        if ((at - w->bytes) & 1)
            *at++ = 0;
        memcpy(at, lines, line_bytes);
        at += line_bytes;
        w->line_bytes = (uint32_t)line_bytes;
    }
    finish(out, WIRE_METHOD, at);
}

void record_build_class(void *out, uint32_t id, struct wire_text name) {
    struct wire_class *w = out;
    name = wire_text_fit(name);
    *w = (struct wire_class){.class_id = id, .name_bytes = (uint32_t)name.bytes};
    finish(out, WIRE_CLASS, append(w->bytes, name));
}

void record_build_stub(void *out, uint64_t begin, struct wire_text name) {
    struct wire_stub *w = out;
    name = wire_text_fit(name);
    *w = (struct wire_stub){.begin = begin, .name_bytes = (uint32_t)name.bytes};
    finish(out, WIRE_STUB, append(w->bytes, name));
}

void record_build_symbol(void *out, uint64_t address, uint32_t kind, struct wire_text name,
                         struct wire_text module) {
    struct wire_symbol *w = out;
    name = wire_text_fit(name);
    module = wire_text_fit(module);
    *w = (struct wire_symbol){.address = address,
                              .name_bytes = (uint16_t)name.bytes,
                              .module_bytes = (uint16_t)module.bytes,
                              .kind = kind};
    finish(out, WIRE_SYMBOL, append(append(w->bytes, name), module));
}

void record_build_thread(void *out, uint32_t tid, uint64_t java_id, uint16_t flags,
                         struct wire_text name) {
    struct wire_thread *w = out;
    name = wire_text_fit(name);
    *w = (struct wire_thread){
        .java_id = java_id, .tid = tid, .name_bytes = (uint16_t)name.bytes, .flags = flags};
    finish(out, WIRE_THREAD, append(w->bytes, name));
}
