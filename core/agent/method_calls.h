/*
 * Calls of a method between their beginning and their end: who is in which one since when, for
 * platform threads by their number, for virtual threads by theirs.
 *
 * Where calls come so often that their samples would cost more than the calls, only every so many
 * are sampled, and stand for the others.
 *
 * Context: method_calls_enter and method_calls_exit are JNI functions that the changed methods call;
 * they also do after method_calls_shut, from code that was being run then. The rest belongs to the
 * agent's thread.
 */
#ifndef JTOP_AGENT_METHOD_CALLS_H
#define JTOP_AGENT_METHOD_CALLS_H

#include "core/agent/engine.h"

int method_calls_open(struct engine_run *run); /* 0 or -errno */
/* Returns when no sample is being taken any more. */
void method_calls_shut(void);
/* Chooses how many calls a sample stands for. */
void method_calls_turn(void);

void JNICALL method_calls_enter(JNIEnv *jni, jclass c);
void JNICALL method_calls_exit(JNIEnv *jni, jclass c);

#endif
