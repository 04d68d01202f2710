#include "core/agent/lock/park.h"

#include "core/agent/precise/precise_class.h"
#include "core/agent/process/guarded.h"
#include "core/agent/vm/boot_class.h"
#include "core/agent/vm/boot_natives.h"
#include "core/agent/vm/vm_method.h"
#include "core/agent/vm/vm_oop.h"
#include "core/agent/vm/vm_tables.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME "park"
#define SIGNATURE "(ZJ)V"
#define METHODS_MAX 4096
#define TRIES 8

static jclass find_unsafe(JNIEnv *jni, const char **name) {
    *name = "jdk/internal/misc/Unsafe";
    jclass c = boot_class(jni, *name);
    if (c)
        return c;
    *name = "sun/misc/Unsafe"; /* JDK 8 */
    return boot_class(jni, *name);
}

static bool symbol_is(const struct vm *vm, uintptr_t symbol, const char *text) {
    char got[64];
    size_t n = strlen(text);
    return symbol_length(vm, symbol) == n && n < sizeof got &&
           guarded_copy(got, symbol_text(vm, symbol), n) == 0 && memcmp(got, text, n) == 0;
}

/* The Klass a class object stands for, known by its name: the object may move meanwhile. */
static uintptr_t klass_of(const struct vm *vm, const struct oop_layout *oops,
                          const struct vm_tables *t, jclass c, const char *name) {
    uintptr_t offset_at = vm_static(t, "java_lang_Class", "_klass_offset");
    uint32_t offset = offset_at ? guarded_load32(offset_at) : 0;
    for (int i = 0; i < TRIES && offset; i++) {
        uint64_t word = guarded_load64((uintptr_t)c & ~(uintptr_t)3);
        uintptr_t mirror = oops->form == OOP_UNKNOWN ? (uintptr_t)word : oop_on_stack(oops, word);
        uintptr_t klass = mirror ? guarded_load64(mirror + offset) : 0;
        uintptr_t symbol = klass ? guarded_load64(klass + (uintptr_t)vm->at.klass_name) : 0;
        if (symbol && symbol_is(vm, symbol, name))
            return klass;
    }
    return 0;
}

/* The Method of that name and signature among those of a class; 0: none. */
static uintptr_t find_method(const struct vm *vm, struct vm_tables *t, uintptr_t klass) {
    int32_t methods = vm_offset(t, "InstanceKlass", "_methods");
    int32_t length = vm_offset(t, "Array<Klass*>", "_length");
    int32_t data = vm_offset(t, "Array<Method*>", "_data");
    if (length < 0)
        length = vm_offset(t, "Array<int>", "_length");
    if (data < 0)
        data = vm_offset(t, "Array<Klass*>", "_data");
    if (methods < 0 || data < 0)
        return 0;
    uintptr_t array = guarded_load64(klass + (uintptr_t)methods);
    uint32_t n = guarded_load32(array + (uintptr_t)(length < 0 ? 0 : length));
    for (uint32_t i = 0; i < n && i < METHODS_MAX; i++) {
        struct method_view m;
        uintptr_t method = guarded_load64(array + (uintptr_t)data + 8 * (uintptr_t)i);
        if (method_look(vm, method, true, &m) && symbol_is(vm, m.name_symbol, NAME) &&
            symbol_is(vm, m.signature_symbol, SIGNATURE))
            return method;
    }
    return 0;
}

static uintptr_t find_slot(const struct vm *vm, JNIEnv *jni, jclass c, const char *name) {
    struct vm_tables t;
    struct oop_layout oops = vm->oops;
    if (!vm->heaps || vm_tables_open(&t) < 0)
        return 0;
    if (oops.form == OOP_UNKNOWN && (*jni)->GetVersion(jni) >= 0x00090000)
        oop_learn(&oops, jni);
    int32_t bytes = vm_type_size(&t, "Method");
    uintptr_t klass = klass_of(vm, &oops, &t, c, name);
    uintptr_t method = klass && bytes > 0 ? find_method(vm, &t, klass) : 0;
    return method ? method + (uintptr_t)bytes : 0;
}

/* Whether an address is in the library that the VM's own functions are in. */
static bool is_of_vm(const struct vm_tables *t, uintptr_t address) {
    Dl_info of_tables;
    Dl_info of_address;
    return dladdr((const void *)t->entries, &of_tables) != 0 &&
           dladdr((const void *)address, &of_address) != 0 && // NOLINT(performance-no-int-to-ptr)
           of_tables.dli_fbase == of_address.dli_fbase;
}

static bool register_park(struct park *p, jclass unsafe, park_function to, JNIEnv *jni) {
    const JNINativeMethod m = {NAME, SIGNATURE, (void *)(uintptr_t)to};
    return boot_natives_bind(p->jvmti, p->callbacks, jni, unsafe, &m, 1);
}

static int replace(struct park *p, const struct vm *vm, jclass unsafe, const char *name,
                   park_function ours, JNIEnv *jni, char *why, size_t why_bytes) {
    struct vm_tables t;
    p->slot = find_slot(vm, jni, unsafe, name);
    uintptr_t before = p->slot ? guarded_load64(p->slot) : 0;
    if (!before || vm_tables_open(&t) < 0) {
        snprintf(why, why_bytes, "monitors only: the address of Unsafe.park is unknown");
        return -ENOTSUP;
    }
    if (!is_of_vm(&t, before)) {
        snprintf(why, why_bytes, "monitors only: another profiler has replaced Unsafe.park");
        return -EBUSY;
    }
    p->original = (park_function)before; // NOLINT(performance-no-int-to-ptr)
    if (register_park(p, unsafe, ours, jni)) {
        if (guarded_load64(p->slot) == (uintptr_t)ours)
            return 0;
        register_park(p, unsafe, p->original, jni); /* it was another method's */
    }
    snprintf(why, why_bytes, "monitors only: this VM does not allow replacing Unsafe.park");
    return -ENOTSUP;
}

int park_replace(struct park *p, const struct vm *vm, park_function ours, JNIEnv *jni, char *why,
                 size_t why_bytes) {
    const char *name;
    jclass unsafe = find_unsafe(jni, &name);
    if (!unsafe) {
        snprintf(why, why_bytes, "monitors only: no class Unsafe found");
        return -ENOTSUP;
    }
    int r = replace(p, vm, unsafe, name, ours, jni, why, why_bytes);
    (*jni)->DeleteLocalRef(jni, unsafe);
    return r;
}

bool park_restore(struct park *p, park_function ours, JNIEnv *jni) {
    const char *name;
    if (!p->slot || guarded_load64(p->slot) != (uintptr_t)ours)
        return false;
    jclass unsafe = find_unsafe(jni, &name);
    bool done = unsafe && register_park(p, unsafe, p->original, jni) &&
                guarded_load64(p->slot) == (uintptr_t)p->original;
    if (unsafe)
        (*jni)->DeleteLocalRef(jni, unsafe);
    return done;
}
