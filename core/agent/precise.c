#include "core/agent/precise.h"

void precise_start(struct precise *p, const struct vm *vm, struct ring_writer *ring,
                   struct wire_status *status) {
    (void)p, (void)vm, (void)ring, (void)status;
}

void precise_stop(struct precise *p) {
    (void)p;
}

void precise_note(struct precise *p, const struct vm *vm, const struct code *c) {
    (void)p, (void)vm, (void)c;
}

void precise_turn(struct precise *p, jvmtiEnv *jvmti, JNIEnv *jni) {
    (void)p, (void)jvmti, (void)jni;
}
