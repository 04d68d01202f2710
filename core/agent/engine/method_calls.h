/*
 * Calls of methods between their beginning and their end: who is in which one since when, for
 * platform threads by their number, for virtual threads by theirs.
 *
 * Where calls come so often that their samples would cost more than the calls, only one in
 * N is sampled, and stands for the others.
 *
 * Context: the natives are JNI functions that the changed methods call; they also do after
 * method_calls_shut, from code that was being run then. The rest belongs to the agent's thread.
 */
#ifndef JTOP_AGENT_ENGINE_METHOD_CALLS_H
#define JTOP_AGENT_ENGINE_METHOD_CALLS_H

#include "core/agent/engine/engine.h"

/* `least`: by target, the ns that a call must take; a call that ends in exit N belongs to target N.
 * 0 or -errno. */
int method_calls_open(struct engine_run *run, const uint64_t *least, uint32_t targets);
/* Returns when no sample is being taken any more. */
void method_calls_shut(void);
/* Chooses how many calls a sample stands for. */
void method_calls_turn(void);

/* enter, exit0, exit1 …, all of them (I)V: with the number that bytecode.h gave the method;
 * constant. */
struct method_calls_natives {
    const JNINativeMethod *at;
    uint32_t count;
};
struct method_calls_natives method_calls_natives(void);

#endif
