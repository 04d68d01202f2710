/*
 * The Java states of all threads, reported about once a second while a reader asks for them
 * (wire_request.java_states). They are what Thread.getState() would return: the agent's thread reads
 * the same field by JNI. No other thread is stopped or waits, and no Java code runs.
 *
 * Source: java.lang.Thread.threadStatus (JDK 8-18), Thread.holder.threadStatus (JDK 19-28);
 * jdk.internal.misc.VM.toThreadState; the bits are those of JVMTI's GetThreadState.
 *
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_JAVA_STATES_H
#define JTOP_AGENT_JAVA_STATES_H

#include "core/agent/threads.h"

struct java_states {
    jfieldID holder;  /* Thread.holder; NULL: `status` is a field of Thread itself */
    jfieldID status;  /* threadStatus; NULL: not known */
    uint32_t asked;   /* the reader's request that was carried out last; 0: none */
    uint64_t next_ms; /* of the next report */
    uint64_t soon_ms; /* of one that is requested again */
};

/* Finds the fields. No exception is pending afterwards. Context: any Java thread, before the
 * agent's thread starts. */
void java_states_learn(struct java_states *s, JNIEnv *jni);

/* Writes the states that have changed, if it is time; all of them after a new request. `asked`: the
 * reader's request, 0: none. Returns whether they are reported, or why they cannot be, even if
 * nobody asks. */
enum wire_java_report java_states_turn(struct java_states *s, struct threads *t, uint32_t asked,
                                       uint64_t now_ms, jvmtiEnv *jvmti, JNIEnv *jni);

#endif
