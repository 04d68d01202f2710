#include "core/agent/vm/boot_class.h"

#include <dlfcn.h>
#include <stdint.h>

#define FUNCTION "JVM_FindClassFromBootLoader"

typedef jclass(JNICALL *find_function)(JNIEnv *, const char *);

static find_function find_in_vm(void) {
    void *found = dlsym(RTLD_DEFAULT, FUNCTION);
    if (found)
        return (find_function)(uintptr_t)found;
    /* A launcher may load the VM with local symbols: then ask the library itself. */
    void *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!jvm)
        return NULL;
    found = dlsym(jvm, FUNCTION);
    dlclose(jvm);
    return (find_function)(uintptr_t)found;
}

jclass boot_class(JNIEnv *jni, const char *name) {
    find_function find = find_in_vm();
    jclass c = find ? find(jni, name) : NULL;
    (*jni)->ExceptionClear(jni);
    return c;
}
