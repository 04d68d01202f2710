/*
 * Stack walks by AsyncGetCallTrace, as a fallback. libjvm.so exports this function for profilers
 * (source: forte.cpp, JDK 8-28). It fails more often than walk_vm, and it needs a jmethodID for
 * every method on a stack. jmethodIDs are created only while it is in use; the VM keeps them.
 *
 * It has no name for a method that was redefined while it was running. Then walk_vm walks the stack
 * if the VM exports its structures; otherwise the frame is an error frame.
 *
 * It does not report how a frame runs. If the VM exports its structures, the tiers of the innermost
 * compiled frame and of the methods inlined into it are taken from their code. Every other Java
 * frame counts as compiled.
 *
 * Context: walk_asgct is as signal-safe as the VM's function; asgct_class_prepared belongs to
 * JVMTI's ClassPrepare event; the rest to the agent's thread.
 */
#ifndef JTOP_AGENT_WALK_WALK_ASGCT_H
#define JTOP_AGENT_WALK_WALK_ASGCT_H

#include "core/agent/walk/method_ids.h"
#include "core/agent/walk/walk.h"

struct asgct_trace;

struct asgct {
    const char *instead_of; /* what this VM lacks for walk_vm, static storage; NULL: nothing */
    bool open;
    void (*get)(struct asgct_trace *trace, jint depth, void *context);
    uintptr_t env_offset; /* of the JNIEnv in a JavaThread */
    JavaVM *java_vm;
    struct method_ids methods;
};

/* Whether this VM exports AsyncGetCallTrace. Any thread. */
bool asgct_exists(void);

/* Creates the jmethodIDs of all loaded classes. Returns 0, or -errno with the reason in `why`. Call
 * asgct_close when no handler is running any more: it announces the remaining names. */
int asgct_open(struct asgct *a, const struct walker *w, jvmtiEnv *jvmti, JNIEnv *jni, char *why,
               size_t why_bytes);
void asgct_close(struct asgct *a, jvmtiEnv *jvmti);

void asgct_class_prepared(struct asgct *a, jvmtiEnv *jvmti, jclass c);

/* Like walk_vm. `context` is the interrupted thread's ucontext_t. At most WIRE_FRAMES_MAX / 2 Java
 * frames. */
void walk_asgct(struct asgct *a, const struct walker *w, void *context, const struct registers *r,
                struct stack *s);

/* Announces the methods that handlers have found on stacks since the last turn. */
void asgct_turn(struct asgct *a, struct names *names, jvmtiEnv *jvmti, JNIEnv *jni);

#endif
