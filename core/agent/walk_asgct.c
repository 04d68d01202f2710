#include "core/agent/walk_asgct.h"

#include <errno.h>
#include <stdio.h>

int asgct_open(struct asgct *a, jvmtiEnv *jvmti, JNIEnv *jni, char *why, size_t why_bytes) {
    (void)a, (void)jvmti, (void)jni;
    snprintf(why, why_bytes, "AsyncGetCallTrace is not to be had");
    return -ENOTSUP;
}

void asgct_close(struct asgct *a, jvmtiEnv *jvmti) {
    (void)a, (void)jvmti;
}

void asgct_class_prepared(struct asgct *a, jvmtiEnv *jvmti, jclass c) {
    (void)a, (void)jvmti, (void)c;
}

void walk_asgct(struct asgct *a, const struct walker *w, void *context, const struct registers *r,
                struct stack *s) {
    (void)a, (void)context;
    walk_vm(w, r, s);
}

void asgct_turn(struct asgct *a, struct names *names, jvmtiEnv *jvmti, JNIEnv *jni) {
    (void)a, (void)names, (void)jvmti, (void)jni;
}
