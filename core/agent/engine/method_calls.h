/*
 * Method calls in progress: which thread is in which method, and since when. The key is the native
 * thread ID, or the ID of a virtual thread.
 *
 * If calls are so frequent that their samples would cost more than the calls, only one in N short
 * calls is sampled, and it stands for N calls.
 *
 * Context: the rewritten methods call the natives, which are JNI functions. Code that was running
 * at that time may still call them after method_calls_shut. The rest belongs to the agent's thread.
 */
#ifndef JTOP_AGENT_ENGINE_METHOD_CALLS_H
#define JTOP_AGENT_ENGINE_METHOD_CALLS_H

#include "core/agent/engine/engine.h"

/* `least`: by target, the shortest time in ns of a sampled call. A call that ends in exit N belongs
 * to target N. 0 or -errno. */
int method_calls_open(struct engine_run *run, const uint64_t *least, uint32_t targets);
/* Ends sampling; waits until no sample is being taken. */
void method_calls_shut(void);
/* Adjusts how many calls a sample stands for. */
void method_calls_turn(void);

/* enter, exit0, exit1 …, all of type (I)V. The argument is the number that bytecode.h gave the
 * method. The list is constant. */
struct method_calls_natives {
    const JNINativeMethod *at;
    uint32_t count;
};
struct method_calls_natives method_calls_natives(void);

#endif
