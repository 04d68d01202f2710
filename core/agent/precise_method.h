/*
 * From methods as the VM has them to methods as JNI has them, by their names.
 *
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_PRECISE_METHOD_H
#define JTOP_AGENT_PRECISE_METHOD_H

#include "core/agent/vm_method.h"

#include <jvmti.h>

#define PRECISE_NAME_BYTES 512

/* A method to find. Names are copies: the class may be unloaded at any moment. */
struct precise_method {
    uintptr_t address;                        /* Method* */
    char class_signature[PRECISE_NAME_BYTES]; /* "Lcom/foo/Bar;" */
    char name[128];
    char signature[PRECISE_NAME_BYTES];
    bool is_static;
};

/* Fills in what `method` is. False where it is nothing that could be found again. */
bool precise_method_read(struct precise_method *m, const struct vm *vm, uintptr_t method);

/* Whether a jmethodID leads to its Method* here, as it did until JDK 25. */
bool precise_ids_are_pointers(const struct vm *vm, JNIEnv *jni);

/* Gets a java.lang.reflect.Executable that bears the names of method `i`; a local reference that
 * is deleted afterwards. True: it was the one, there is no need to look further. */
typedef bool precise_visit(void *context, uint32_t i, jobject method, JNIEnv *jni);

#define PRECISE_METHODS_MAX 8u

/* Looks for `n` methods, at most PRECISE_METHODS_MAX, among the loaded classes. Where ids are no
 * pointers every class of that name is visited, whoever loaded it. */
void precise_methods_find(const struct precise_method *m, uint32_t n, bool ids_are_pointers,
                          precise_visit *visit, void *context, jvmtiEnv *jvmti, JNIEnv *jni);

#endif
