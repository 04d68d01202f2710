/*
 * Files:
 *   precise             hot methods without full debug info, made to recompile (--precise)
 *   precise_class       test whether a Java class stands for a given Klass
 *   precise_deoptimize  discarding a method's compiled code through the VM's WhiteBox API
 *   precise_method      JNI method IDs for methods known by their VM address
 *
 * Precision for code that was compiled before sampling began (request.precise). For such code the
 * VM has debug information only at safepoints. Handlers count the samples in it. The agent's thread
 * makes the VM discard the hot part of it (see precise_deoptimize.h). The VM then compiles it again
 * with full debug information, because DebugNonSafepoints is set while we sample.
 *
 * This is opt-in because it has a cost: the VM's pause while it discards code, and the time during
 * which these methods run in the interpreter and C1 until they are compiled again. The pause is
 * measured and reported. Only hot methods are recompiled, a few at a time, each piece of code once,
 * and a limited number in all. A jmethodID is created for each of these methods.
 *
 * Code is old if its compilation id was given before sampling began or within the first second, so
 * that compilations in progress also count as old. Code compiled during an earlier precise run is
 * not old. Methods of hidden classes, class initializers, and methods of classes that are still
 * being initialized are not recompiled.
 *
 * Context: precise_note is signal-safe. The rest belongs to the agent's thread; precise_stop may
 * also be called from VMDeath.
 */
#ifndef JTOP_AGENT_PRECISE_PRECISE_H
#define JTOP_AGENT_PRECISE_PRECISE_H

#include "core/agent/precise/precise_method.h"
#include "core/agent/vm/vm_code.h"
#include "core/wire/layout.h"
#include "core/wire/ring_writer.h"

#include <jvmti.h>

#define PRECISE_SLOTS 1024u

/* A compiled method with samples. */
struct precise_slot {
    _Atomic uint64_t key;   /* address of its blob, and the low 16 bits of its id; 0: free */
    _Atomic uint32_t count; /* samples; halved from time to time */
    _Atomic uint32_t done;  /* it was a candidate already */
};

struct precise {
    _Atomic uint32_t on;
    _Atomic uint32_t old_id;  /* compilations up to this id are old; UINT32_MAX: not yet known */
    _Atomic uint64_t samples; /* halved together with the counts */
    const struct vm *vm;
    struct ring_writer *ring;
    struct wire_status *status;
    int32_t entry_bci, state; /* offsets in an nmethod */
    struct precise_ids ids;
    uint64_t decide_ns, look_ns, fade_ns, begin_ns; /* times of the next steps; CLOCK_MONOTONIC */
    uint32_t recompiled;
    struct precise_slot slot[PRECISE_SLOTS];
};

/* Begins: code that exists already is old, code compiled from now on is not. */
void precise_start(struct precise *p, const struct vm *vm, struct ring_writer *ring,
                   struct wire_status *status);
void precise_stop(struct precise *p);

/* Counts a sample whose topmost compiled frame is in this code. */
void precise_note(struct precise *p, const struct vm *vm, const struct code *c);

/* Makes the VM recompile hot old code, a few methods at a time. */
void precise_turn(struct precise *p, jvmtiEnv *jvmti, JNIEnv *jni);

#endif
