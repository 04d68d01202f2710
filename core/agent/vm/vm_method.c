#include "core/agent/vm/vm_method.h"

#include "core/agent/process/guarded.h"
#include "core/base/hash.h"

#define TAG_UTF8 1 /* JVM_CONSTANT_Utf8 */

static uintptr_t pool_symbol(const struct vm *vm, uintptr_t pool, uint16_t index) {
    return guarded_load64(pool + (uintptr_t)vm->at.pool_bytes + 8 * (uintptr_t)index);
}

static bool plausible(uintptr_t pointer) {
    return pointer > 4096 && pointer % 4 == 0 && pointer >> VM_ADDRESS_BITS == 0;
}

uint32_t symbol_length(const struct vm *vm, uintptr_t symbol) {
    return guarded_load16(symbol + (uintptr_t)vm->at.symbol_length);
}

static bool is_text(const struct vm *vm, uintptr_t tags, uint32_t length, uint16_t index) {
    return index && index < length &&
           guarded_load8(tags + (uintptr_t)vm->at.array_bytes + index) == TAG_UTF8;
}

/* Whether `pool` is one, and holds a name and a signature at these indices. */
static bool is_pool(const struct vm *vm, uintptr_t pool, uint16_t name, uint16_t signature) {
    uint32_t length = guarded_load32(pool + (uintptr_t)vm->at.pool_length);
    uintptr_t tags = guarded_load64(pool + (uintptr_t)vm->at.pool_tags);
    return plausible(tags) && guarded_load32(tags + (uintptr_t)vm->at.array_length) == length &&
           is_text(vm, tags, length, name) && is_text(vm, tags, length, signature);
}

bool method_look(const struct vm *vm, uintptr_t method, bool strict, struct method_view *out) {
    const struct vm_layout *at = &vm->at;
    if (!plausible(method) || method % 8)
        return false;
    uintptr_t cm = guarded_load64(method + (uintptr_t)at->method_const);
    if (!plausible(cm))
        return false;
    uintptr_t pool = guarded_load64(cm + (uintptr_t)at->const_constants);
    if (!plausible(pool))
        return false;
    uintptr_t klass = guarded_load64(pool + (uintptr_t)at->pool_holder);
    if (!plausible(klass))
        return false;
    uint16_t name = guarded_load16(cm + (uintptr_t)at->const_name);
    uint16_t signature = guarded_load16(cm + (uintptr_t)at->const_signature);
    if (strict && !is_pool(vm, pool, name, signature))
        return false;
    out->method = method;
    out->const_method = cm;
    out->class_symbol = guarded_load64(klass + (uintptr_t)at->klass_name);
    out->name_symbol = pool_symbol(vm, pool, name);
    out->signature_symbol = pool_symbol(vm, pool, signature);
    if (!plausible(out->class_symbol) || !plausible(out->name_symbol) ||
        !plausible(out->signature_symbol))
        return false;
    uint32_t length = symbol_length(vm, out->class_symbol);
    if (!length || !symbol_length(vm, out->name_symbol))
        return false;
    uint64_t h = hash_more(0, method);
    h = hash_more(h, cm);
    h = hash_more(h, out->class_symbol);
    h = hash_more(h, guarded_load64(out->class_symbol) & at->symbol_mask);
    /* Generated classes differ at the end of their names. */
    if (length >= 8)
        h = hash_more(h, guarded_load64(symbol_text(vm, out->class_symbol) + length - 8));
    h = hash_more(h, out->name_symbol);
    h = hash_more(h, guarded_load64(out->name_symbol) & at->symbol_mask);
    out->identity = h ? h : 1;
    return true;
}

int32_t method_bci(const struct vm *vm, const struct method_view *m, uintptr_t bcp) {
    uintptr_t begin = m->const_method + (uintptr_t)vm->at.const_method_bytes;
    uint16_t size = guarded_load16(m->const_method + (uintptr_t)vm->at.const_code_size);
    return bcp >= begin && bcp < begin + size ? (int32_t)(bcp - begin) : -1;
}

uint16_t method_flags(const struct vm *vm, uintptr_t method) {
    uintptr_t at = method + (uintptr_t)vm->at.method_flags.offset;
    return vm->at.method_flags.offset < 0 ? 0 : guarded_load16(at);
}

/* One integer of a compressed stream: bytes of 192 and more are followed by another, five at most;
 * the lowest bit is the sign (source: compressedStream.hpp). `without_zero` as in vm_code.c. */
static int32_t read_signed(uintptr_t *at, bool without_zero) {
    uint32_t low = without_zero ? 191 : 192;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t b = (uint32_t)guarded_load8((*at)++) - without_zero;
        sum += b << (6 * i);
        if (b < low)
            break;
    }
    return (int32_t)(sum >> 1) ^ -(int32_t)(sum & 1);
}

/* The table follows the bytecodes: a byte with both steps, or 0xff and two integers; 0 ends it. */
uint32_t method_lines(const struct vm *vm, const struct method_view *m, uint16_t (*out)[2],
                      uint32_t max) {
    const struct vm_layout *l = &vm->at;
    if (l->const_flags.offset < 0 ||
        !(guarded_load16(m->const_method + (uintptr_t)l->const_flags.offset) & l->const_has_lines))
        return 0;
    uintptr_t at = m->const_method + (uintptr_t)l->const_method_bytes +
                   guarded_load16(m->const_method + (uintptr_t)l->const_code_size);
    int32_t bci = 0;
    int32_t line = 0;
    uint32_t n = 0;
    for (; n < max; n++) {
        uint8_t step = guarded_load8(at++);
        if (step == 0)
            break;
        if (step == 0xff) {
            bci += read_signed(&at, l->scopes_without_zero);
            line += read_signed(&at, l->scopes_without_zero);
        } else {
            bci += step >> 3;
            line += step & 7;
        }
        if (out) {
            out[n][0] = (uint16_t)bci;
            out[n][1] = (uint16_t)line;
        }
    }
    return n;
}
