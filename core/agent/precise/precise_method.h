/*
 * Finds the jmethodID of a Method*: by the names, and then by identity, because several class
 * loaders may have classes of the same name.
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

/* Fills *m from a Method*. False: such a method could not be found again. */
bool precise_method_read(struct precise_method *m, const struct vm *vm, uintptr_t method);

/* How a jmethodID is compared with a Method*. */
struct precise_ids {
    bool are_pointers;     /* a jmethodID points to its Method*, as until JDK 25 */
    uint32_t klass_offset; /* of precise_class.h; 0: not known */
};

/* False: this VM offers no way to distinguish methods of the same name. */
bool precise_ids_learn(struct precise_ids *ids, const struct vm *vm, JNIEnv *jni);

/* Receives method `i`. `holder` and `method` are valid during the call. */
typedef void precise_visit(void *context, uint32_t i, jclass holder, jmethodID method, JNIEnv *jni);

#define PRECISE_METHODS_MAX 8u

/* Searches the loaded classes for `n` methods, at most PRECISE_METHODS_MAX. Calls `visit` once for
 * each method found. */
void precise_methods_find(const struct precise_method *m, uint32_t n, const struct vm *vm,
                          const struct precise_ids *ids, precise_visit *visit, void *context,
                          jvmtiEnv *jvmti, JNIEnv *jni);

#endif
