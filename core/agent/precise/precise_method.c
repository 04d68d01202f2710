#include "core/agent/precise/precise_method.h"

#include "core/agent/precise/precise_class.h"
#include "core/agent/process/guarded.h"
#include "core/agent/vm/boot_class.h"

#include <string.h>

#define ACC_STATIC 0x0008u
#define ACC_NATIVE 0x0100u
#define LOCALS 65536 /* HotSpot grants no more */

static bool copy_text(const struct vm *vm, uintptr_t symbol, char *out, size_t size) {
    size_t n = symbol_length(vm, symbol);
    if (n >= size || guarded_copy(out, symbol_text(vm, symbol), n) != 0)
        return false;
    out[n] = '\0';
    return strlen(out) == n;
}

bool precise_method_read(struct precise_method *m, const struct vm *vm, uintptr_t method) {
    struct method_view view;
    if (!method_look(vm, method, true, &view))
        return false;
    uintptr_t pool = guarded_load64(view.const_method + (uintptr_t)vm->at.const_constants);
    m->address = method;
    m->holder = guarded_load64(pool + (uintptr_t)vm->at.pool_holder);
    m->holder_name = view.class_symbol;
    uint16_t flags = method_flags(vm, method);
    m->is_static = flags & ACC_STATIC;
    size_t size = sizeof m->class_signature;
    m->class_signature[0] = 'L';
    if ((flags & ACC_NATIVE) ||
        !copy_text(vm, view.class_symbol, m->class_signature + 1, size - 2) ||
        !copy_text(vm, view.name_symbol, m->name, sizeof m->name) ||
        !copy_text(vm, view.signature_symbol, m->signature, sizeof m->signature))
        return false;
    size_t n = strlen(m->class_signature);
    memcpy(m->class_signature + n, ";", 2);
    return strcmp(m->name, "<clinit>") != 0 && !strchr(m->class_signature, '+');
}

static bool ids_are_pointers(const struct vm *vm, JNIEnv *jni) {
    jclass c = boot_class(jni, "java/lang/Object");
    jmethodID id = c ? (*jni)->GetMethodID(jni, c, "hashCode", "()I") : NULL;
    (*jni)->ExceptionClear(jni);
    if (c)
        (*jni)->DeleteLocalRef(jni, c);
    struct method_view view;
    char name[16];
    return id && (uintptr_t)id % 8 == 0 &&
           method_look(vm, guarded_load64((uintptr_t)id), true, &view) &&
           copy_text(vm, view.name_symbol, name, sizeof name) && strcmp(name, "hashCode") == 0;
}

bool precise_ids_learn(struct precise_ids *ids, const struct vm *vm, JNIEnv *jni) {
    ids->are_pointers = ids_are_pointers(vm, jni);
    ids->klass_offset = precise_klass_offset(vm);
    return ids->are_pointers || ids->klass_offset;
}

/* The method of this class, if it is the one; NULL with nothing pending otherwise. Asking for an
 * id makes the VM initialize the class, or wait for the thread that does: only initialized
 * classes are asked. An id may be that of a method which the class inherits: if the id is
 * not a pointer, the class was compared. */
static jmethodID method_of(const struct precise_method *m, jclass c, const struct vm *vm,
                           const struct precise_ids *ids, jvmtiEnv *jvmti, JNIEnv *jni) {
    jint status = 0;
    if (!ids->are_pointers &&
        !precise_class_is(vm, ids->klass_offset, c, m->holder, m->holder_name))
        return NULL;
    if ((*jvmti)->GetClassStatus(jvmti, c, &status) != JVMTI_ERROR_NONE ||
        !(status & JVMTI_CLASS_STATUS_INITIALIZED))
        return NULL;
    jmethodID id = m->is_static ? (*jni)->GetStaticMethodID(jni, c, m->name, m->signature)
                                : (*jni)->GetMethodID(jni, c, m->name, m->signature);
    (*jni)->ExceptionClear(jni);
    return id && (!ids->are_pointers || guarded_load64((uintptr_t)id) == m->address) ? id : NULL;
}

void precise_methods_find(const struct precise_method *m, uint32_t n, const struct vm *vm,
                          const struct precise_ids *ids, precise_visit *visit, void *context,
                          jvmtiEnv *jvmti, JNIEnv *jni) {
    jint classes = 0;
    jclass *all = NULL;
    uint32_t missing = n;
    bool done[PRECISE_METHODS_MAX] = {false};
    (*jni)->EnsureLocalCapacity(jni, LOCALS); /* only for -Xcheck:jni; it takes nothing */
    if (n > PRECISE_METHODS_MAX ||
        (*jvmti)->GetLoadedClasses(jvmti, &classes, &all) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < classes; i++) {
        char *signature = NULL;
        if (missing && (*jvmti)->GetClassSignature(jvmti, all[i], &signature, NULL) != 0)
            signature = NULL;
        for (uint32_t k = 0; signature && k < n; k++) {
            if (done[k] || strcmp(signature, m[k].class_signature) != 0)
                continue;
            jmethodID method = method_of(&m[k], all[i], vm, ids, jvmti, jni);
            if (!method)
                continue;
            done[k] = true;
            missing--;
            visit(context, k, all[i], method, jni);
        }
        if (signature)
            (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
        (*jni)->DeleteLocalRef(jni, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}
