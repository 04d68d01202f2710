/*
 * From methods as the VM has them to methods as JNI has them: by their names, and then by identity,
 * as any number of class loaders may have a class of the same name.
 *
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_PRECISE_PRECISE_METHOD_H
#define JTOP_AGENT_PRECISE_PRECISE_METHOD_H

#include "core/agent/vm/vm_method.h"

#include <jvmti.h>

#define PRECISE_NAME_BYTES 512

/* A method to find. Names are copies: the class may be unloaded at any moment. */
struct precise_method {
    uintptr_t address;                        /* Method* */
    uintptr_t holder, holder_name;            /* Klass*, and its Symbol* */
    char class_signature[PRECISE_NAME_BYTES]; /* "Lcom/foo/Bar;" */
    char name[128];
    char signature[PRECISE_NAME_BYTES];
    bool is_static;
};

/* Fills in what `method` is. False if it could not be found again. */
bool precise_method_read(struct precise_method *m, const struct vm *vm, uintptr_t method);

/* What identifies a method of JNI. */
struct precise_ids {
    bool are_pointers;     /* a jmethodID leads to its Method*, as it did until JDK 25 */
    uint32_t klass_offset; /* of precise_class.h; 0: not known */
};

/* False: there is nothing here by which to tell methods apart. */
bool precise_ids_learn(struct precise_ids *ids, const struct vm *vm, JNIEnv *jni);

/* Gets method `i`; both are valid during the call. */
typedef void precise_visit(void *context, uint32_t i, jclass holder, jmethodID method, JNIEnv *jni);

#define PRECISE_METHODS_MAX 8u

/* Looks for `n` methods, at most PRECISE_METHODS_MAX, among the loaded classes; visits each that is
 * found once. */
void precise_methods_find(const struct precise_method *m, uint32_t n, const struct vm *vm,
                          const struct precise_ids *ids, precise_visit *visit, void *context,
                          jvmtiEnv *jvmti, JNIEnv *jni);

#endif
