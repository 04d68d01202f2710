#include "core/agent/vm/vm_klass.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_flags.h"
#include "core/agent/vm/vm_oop.h"
#include "core/agent/vm/vm_tables.h"

/* Where the encoding of narrow class pointers is kept, by release. */
static const struct {
    const char *type, *base, *shift;
} places[] = {
    {"CompressedKlassPointers", "_base", "_shift"},
    {"CompressedKlassPointers", "_narrow_klass._base", "_narrow_klass._shift"},
    {"Universe", "_narrow_klass._base", "_narrow_klass._shift"},
};

static bool read_encoding(struct klass_layout *k, const struct vm_tables *t) {
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        uintptr_t base = vm_static(t, places[i].type, places[i].base);
        uintptr_t shift = vm_static(t, places[i].type, places[i].shift);
        if (!base || !shift)
            continue;
        k->base = guarded_load64(base);
        k->shift = guarded_load32(shift);
        return k->shift < 32;
    }
    return false;
}

void klass_learn(struct vm *vm) {
    struct klass_layout *k = &vm->klasses;
    struct vm_tables t;
    bool narrow = true, compact = false; /* newer releases have no flag for the first */
    *k = (struct klass_layout){.offset = -1};
    if (vm_tables_open(&t) < 0)
        return;
    vm_flag_get("UseCompressedClassPointers", &narrow);
    vm_flag_get("UseCompactObjectHeaders", &compact);
    k->narrow = narrow;
    k->header_shift = compact ? (uint32_t)vm_constant(&t, "markWord::klass_shift", 42) : 0;
    int32_t offset =
        vm_offset(&t, "oopDesc", narrow ? "_metadata._compressed_klass" : "_metadata._klass");
    if (offset < 0)
        offset = vm_offset(&t, "oopDesc", narrow ? "_compressed_klass" : "_klass");
    if (compact)
        offset = 0;
    if (!narrow || read_encoding(k, &t))
        k->offset = offset;
}

uintptr_t klass_of(const struct vm *vm, uint64_t reference) {
    const struct klass_layout *k = &vm->klasses;
    uintptr_t object = vm->oops.form ? oop_on_stack(&vm->oops, reference) : reference;
    if (k->offset < 0 || !object || object & 7)
        return 0;
    uint64_t word = guarded_load64(object + (uintptr_t)k->offset);
    if (!k->narrow)
        return word;
    uint64_t narrow = k->header_shift ? word >> k->header_shift : (uint32_t)word;
    return narrow ? k->base + (narrow << k->shift) : 0;
}
