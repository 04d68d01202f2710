/*
 * Precision for code that was compiled before we came (request.precise): the VM then described it
 * at safepoints only. Handlers note which of it is hot; the agent's thread makes the VM give that
 * code up, and what it compiles next carries full debug information.
 *
 * Opt-in, because it costs: a safepoint for each batch of methods, and their time in the
 * interpreter and C1 until they are compiled again. Both are measured and reported.
 *
 * Context: precise_note is signal-safe; the rest belongs to the agent's thread.
 */
#ifndef JTOP_AGENT_PRECISE_H
#define JTOP_AGENT_PRECISE_H

#include "core/agent/vm_code.h"
#include "core/wire/ring_writer.h"

#include <jvmti.h>

struct precise {
    _Atomic uint32_t on;
};

/* Code compiled from now on is good; what is there already is not. */
void precise_start(struct precise *p, const struct vm *vm, struct ring_writer *ring,
                   struct wire_status *status);
void precise_stop(struct precise *p);

/* A sample's leaf is in this compiled code, and no debug information is of exactly that pc. */
void precise_note(struct precise *p, const struct vm *vm, const struct code *c);

/* Makes what is hot and old recompile; a few methods at a time. */
void precise_turn(struct precise *p, jvmtiEnv *jvmti, JNIEnv *jni);

#endif
