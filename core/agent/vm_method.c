#include "core/agent/vm_method.h"

#include "core/agent/guarded.h"

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uintptr_t pool_symbol(const struct vm *vm, uintptr_t pool, uint16_t index) {
    return guarded_load64(pool + (uintptr_t)vm->at.pool_bytes + 8 * (uintptr_t)index);
}

static bool plausible(uintptr_t pointer) {
    return pointer > 4096 && pointer % 4 == 0 && pointer >> 47 == 0;
}

uint32_t symbol_length(const struct vm *vm, uintptr_t symbol) {
    return guarded_load16(symbol + (uintptr_t)vm->at.symbol_length);
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
    if (strict && guarded_load64(klass + (uintptr_t)at->klass_constants) != pool)
        return false;
    out->method = method;
    out->const_method = cm;
    out->class_symbol = guarded_load64(klass + (uintptr_t)at->klass_name);
    out->name_symbol = pool_symbol(vm, pool, guarded_load16(cm + (uintptr_t)at->const_name));
    out->signature_symbol =
        pool_symbol(vm, pool, guarded_load16(cm + (uintptr_t)at->const_signature));
    if (!plausible(out->class_symbol) || !plausible(out->name_symbol) ||
        !plausible(out->signature_symbol))
        return false;
    uint32_t length = symbol_length(vm, out->class_symbol);
    if (!length || !symbol_length(vm, out->name_symbol))
        return false;
    uint64_t h = mix(0, method);
    h = mix(h, cm);
    h = mix(h, out->class_symbol);
    h = mix(h, guarded_load64(out->class_symbol) & at->symbol_mask);
    /* Generated classes differ at the end of their names. */
    if (length >= 8)
        h = mix(h, guarded_load64(symbol_text(vm, out->class_symbol) + length - 8));
    h = mix(h, out->name_symbol);
    h = mix(h, guarded_load64(out->name_symbol) & at->symbol_mask);
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
