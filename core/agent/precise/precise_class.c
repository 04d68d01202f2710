#include "core/agent/precise/precise_class.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_tables.h"

#define TRIES 8
#define HANDLE_TAG 3u /* low bits of a JNI reference: its kind */

uint32_t precise_klass_offset(const struct vm *vm) {
    struct vm_tables t;
    if (vm->oops.form == OOP_UNKNOWN || vm_tables_open(&t) < 0)
        return 0;
    uintptr_t at = vm_static(&t, "java_lang_Class", "_klass_offset");
    return at ? guarded_load32(at) : 0;
}

bool precise_class_is(const struct vm *vm, uint32_t klass_offset, jclass c, uintptr_t klass,
                      uintptr_t name) {
    for (int i = 0; i < TRIES; i++) {
        uintptr_t handle = (uintptr_t)c & ~(uintptr_t)HANDLE_TAG;
        uintptr_t mirror = oop_on_stack(&vm->oops, guarded_load64(handle));
        uintptr_t there = mirror ? guarded_load64(mirror + klass_offset) : 0;
        if (there && guarded_load64(there + (uintptr_t)vm->at.klass_name) == name)
            return there == klass;
    }
    return false;
}
