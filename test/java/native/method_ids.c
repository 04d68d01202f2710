/*
 * What MethodIds asks of the VM: whether a class has a table of jmethodIDs. The VM makes one when
 * the first jmethodID of the class is made, and never before (source: instanceKlass.cpp,
 * InstanceKlass::_methods_jmethod_ids, JDK 8-28).
 *
 * Reads the VM's own description of itself, with code of its own: what it checks uses that too.
 */
#include <jni.h>
#include <stdint.h>
#include <string.h>

struct entry {
    const char *type, *field, *type_string;
    int32_t is_static;
    uint64_t offset;
    void *address;
};

extern const struct entry *gHotSpotVMStructs __attribute__((weak));

static const struct entry *find(const char *type, const char *field) {
    for (const struct entry *e = gHotSpotVMStructs; e && e->type; e++)
        if (strcmp(e->type, type) == 0 && strcmp(e->field, field) == 0)
            return e;
    return NULL;
}

/* 0: `of` has no table, 1: it has one, -1: not to be known here. Wants the serial collector. */
JNIEXPORT jint JNICALL Java_MethodIds_table(JNIEnv *env, jclass self, jclass of, jbyteArray hold) {
    (void)self;
    const struct entry *klass = find("java_lang_Class", "_klass_offset");
    const struct entry *table = find("InstanceKlass", "_methods_jmethod_ids");
    if (!klass || !klass->is_static || !table)
        return -1;
    /* No collection moves the class's object meanwhile. */
    void *held = (*env)->GetPrimitiveArrayCritical(env, hold, NULL);
    uintptr_t mirror = *(const uintptr_t *)of;
    uintptr_t k = *(const uintptr_t *)(mirror + (uintptr_t) * (const int32_t *)klass->address);
    const void *ids = *(void *const *)(k + table->offset);
    (*env)->ReleasePrimitiveArrayCritical(env, hold, held, JNI_ABORT);
    return ids != NULL;
}
