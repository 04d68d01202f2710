/*
 * The walker of last resort: AsyncGetCallTrace, which libjvm.so exports for profilers (source:
 * forte.cpp, JDK 8-28). It gives up more often than walk_vm and needs a jmethodID for every method
 * on a stack, so those are created while it is in use, and only then; the VM keeps them.
 *
 * It has no name for a method that was redefined while it runs. Such a stack is walked by walk_vm,
 * where the VM describes itself; elsewhere the frame is an error frame.
 *
 * It does not say how a frame runs. Where the VM describes itself, the innermost compiled frame
 * and what is inlined into it are told apart by the code they run in; every other Java frame counts
 * as compiled.
 *
 * Context: walk_asgct is signal-safe as far as the VM's function is; the rest belongs to the
 * agent's thread, and asgct_class_prepared to JVMTI's ClassPrepare event.
 */
#ifndef JTOP_AGENT_WALK_WALK_ASGCT_H
#define JTOP_AGENT_WALK_WALK_ASGCT_H

#include "core/agent/walk/method_ids.h"
#include "core/agent/walk/walk.h"

struct asgct_trace;

struct asgct {
    const char *instead_of; /* what walk_vm misses in this VM, static storage; NULL: nothing */
    bool open;
    void (*get)(struct asgct_trace *trace, jint depth, void *context);
    uintptr_t env_offset; /* of a JavaThread's JNIEnv in it */
    JavaVM *java_vm;
    struct method_ids methods;
};

/* Whether this VM exports it. Any thread. */
bool asgct_exists(void);

/* 0, or -errno with the reason it does not work here in `why`. Creates the jmethodIDs of all
 * loaded classes. asgct_close when no handler runs any more: it announces what is left. */
int asgct_open(struct asgct *a, const struct walker *w, jvmtiEnv *jvmti, JNIEnv *jni, char *why,
               size_t why_bytes);
void asgct_close(struct asgct *a, jvmtiEnv *jvmti);

void asgct_class_prepared(struct asgct *a, jvmtiEnv *jvmti, jclass c);

/* As walk_vm. `context` is the interrupted thread's ucontext_t. At most WIRE_FRAMES_MAX / 2 Java
 * frames. */
void walk_asgct(struct asgct *a, const struct walker *w, void *context, const struct registers *r,
                struct stack *s);

/* Announces the names of methods that handlers have met since the last turn. */
void asgct_turn(struct asgct *a, struct names *names, jvmtiEnv *jvmti, JNIEnv *jni);

#endif
