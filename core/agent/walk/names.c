#include "core/agent/walk/names.h"

#include "core/agent/process/guarded.h"
#include "core/agent/walk/stub_names.h"
#include "core/base/hash.h"

#include <string.h>

#define LINES_MAX 2048 /* entries of a line table; a method has 64 KiB of code at most */

static uint32_t cut(uint32_t length) {
    return length < WIRE_STRING_MAX ? length : WIRE_STRING_MAX;
}

static bool announce_method(struct names *n, uint32_t id, const struct method_view *m) {
    const struct vm *vm = n->vm;
    uint32_t class_bytes = cut(symbol_length(vm, m->class_symbol));
    uint32_t name_bytes = cut(symbol_length(vm, m->name_symbol));
    uint32_t signature_bytes = cut(symbol_length(vm, m->signature_symbol));
    uint32_t lines = method_lines(vm, m, NULL, LINES_MAX);
    /* The lines come behind the strings, which are padded to 2 bytes for them. */
    uint32_t strings = class_bytes + name_bytes + signature_bytes;
    uint32_t length = (uint32_t)sizeof(struct wire_method) + strings + (strings & 1) + 4 * lines;
    struct wire_method *r = ring_reserve(n->ring, WIRE_METHOD, length);
    if (!r)
        return false;
    r->method_id = id;
    r->class_bytes = (uint16_t)class_bytes;
    r->name_bytes = (uint16_t)name_bytes;
    r->signature_bytes = (uint16_t)signature_bytes;
    r->flags = method_flags(vm, m->method);
    r->line_bytes = 4 * lines;
    uint8_t *to = r->bytes;
    size_t missing = guarded_copy(to, symbol_text(vm, m->class_symbol), class_bytes);
    missing += guarded_copy(to + class_bytes, symbol_text(vm, m->name_symbol), name_bytes);
    missing += guarded_copy(to + class_bytes + name_bytes, symbol_text(vm, m->signature_symbol),
                            signature_bytes);
    to += strings + (strings & 1);
    missing += method_lines(vm, m, (uint16_t(*)[2])(void *)to, lines) != lines;
    ring_commit(r, missing ? WIRE_PAD : WIRE_METHOD);
    return missing == 0;
}

uint32_t names_method(struct names *n, const struct method_view *m) {
    bool is_new;
    uint32_t id = id_table_find(&n->methods, m->identity, &is_new);
    if (!is_new || id == ID_TABLE_FULL)
        return id;
    if (!announce_method(n, id, m))
        return NAMES_NO_ROOM;
    id_table_announced(&n->methods, id);
    return id;
}

static uint32_t text_length(uintptr_t text, uint32_t max) {
    uint32_t length = 0;
    while (length < max && guarded_load8(text + length))
        length++;
    return length;
}

static bool announce_stub(struct names *n, uintptr_t begin, uintptr_t end, uintptr_t name,
                          uint32_t bytes) {
    struct wire_stub *r =
        ring_reserve(n->ring, WIRE_STUB, (uint32_t)sizeof(struct wire_stub) + bytes);
    if (!r)
        return false;
    r->begin = begin;
    r->code_bytes = (uint32_t)(end - begin);
    r->name_bytes = bytes;
    size_t missing = guarded_copy(r->bytes, name, bytes);
    ring_commit(r, missing ? WIRE_PAD : WIRE_STUB);
    return missing == 0;
}

uint64_t names_stub(struct names *n, const struct code *c, uintptr_t pc) {
    static const char interpreter[] = "Interpreter";
    static const char call_stub[] = "call_stub";
    uintptr_t name = (uintptr_t)interpreter, begin = c->begin, end = c->end;
    struct stub_name routine;
    if (c->kind == CODE_ENTRY) {
        name = (uintptr_t)call_stub;
    } else if (c->blob && stub_names_find(pc, &routine)) {
        name = (uintptr_t)routine.name;
        begin = routine.begin;
        end = begin + routine.bytes;
    } else if (c->blob) {
        name = guarded_load64(c->blob + (uintptr_t)n->vm->at.blob_name);
    }
    uint32_t bytes = text_length(name, 128);
    uint64_t identity = begin;
    for (uint32_t i = 0; i < bytes; i++)
        identity = hash_byte(identity, guarded_load8(name + i));
    bool is_new;
    uint32_t id = id_table_find(&n->stubs, identity | 1, &is_new);
    if (is_new && announce_stub(n, begin, end, name, bytes))
        id_table_announced(&n->stubs, id);
    return wire_frame_address(WIRE_FRAME_STUB, begin);
}

/* An id that was announced, or is by this; ID_TABLE_FULL, NAMES_NO_ROOM. */
static uint32_t class_id(struct names *n, const uint8_t *name, uint32_t bytes) {
    uint64_t h = HASH_BYTE;
    bool is_new;
    for (uint32_t i = 0; i < bytes; i++)
        h = hash_byte(h, name[i]);
    uint32_t id = id_table_find(&n->classes, h | 1, &is_new);
    if (id == ID_TABLE_FULL || !is_new)
        return id;
    struct wire_class *r =
        ring_reserve(n->ring, WIRE_CLASS, (uint32_t)(sizeof(struct wire_class) + bytes));
    if (!r)
        return NAMES_NO_ROOM;
    r->class_id = id;
    r->name_bytes = bytes;
    memcpy(r->bytes, name, bytes);
    ring_commit(r, WIRE_CLASS);
    id_table_announced(&n->classes, id);
    return id;
}

uint64_t names_class_called(struct names *n, const char *name, uint32_t bytes) {
    uint32_t id = class_id(n, (const uint8_t *)name, cut(bytes));
    if (id == ID_TABLE_FULL)
        return wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_METHODS_FULL);
    if (id == NAMES_NO_ROOM)
        return wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME);
    return wire_frame_java(WIRE_FRAME_CLASS, id, 0);
}

uint64_t names_class(struct names *n, uintptr_t klass) {
    const struct vm *vm = n->vm;
    uintptr_t symbol = guarded_load64(klass + (uintptr_t)vm->at.klass_name);
    uint32_t bytes = symbol ? cut(symbol_length(vm, symbol)) : 0;
    char name[WIRE_STRING_MAX];
    if (!bytes || guarded_copy(name, symbol_text(vm, symbol), bytes))
        return wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_BAD_FRAME);
    return names_class_called(n, name, bytes);
}
