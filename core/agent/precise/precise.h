/*
 * Files:
 *   precise             hot methods without full debug info, made to recompile (--precise)
 *   precise_class       test whether a Java class stands for a given Klass
 *   precise_deoptimize  discarding a method's compiled code through the VM's WhiteBox API
 *   precise_method      JNI method IDs for methods known by their VM address
 *
 * Precision for code that was compiled before we came (request.precise): the VM then described it
 * at safepoints only. Handlers note which of it is hot; the agent's thread makes the VM give that
 * code up (precise_deoptimize.h says how), and what it compiles next carries full debug
 * information, because DebugNonSafepoints is set as long as we sample.
 *
 * Opt-in, because it costs: the VM's pause to give code up, and the time these methods run in the
 * interpreter and C1 until they are compiled again. The first is measured and reported. Only
 * methods that are hot are touched, a few at a time, each piece of code once, and at most
 * RECOMPILE_MAX. The one place where a jmethodID is created: that of each method touched.
 *
 * Old is what has a compilation id that was given out before, or within the first second, so that
 * compilations that were under way count as old; what was compiled during an earlier precise run is
 * not. Methods of hidden classes, class initializers and
 * classes still being initialized stay as they are.
 *
 * Context: precise_note is signal-safe; the rest belongs to the agent's thread, but precise_stop,
 * which may also be called from VMDeath.
 */
#ifndef JTOP_AGENT_PRECISE_PRECISE_H
#define JTOP_AGENT_PRECISE_PRECISE_H

#include "core/agent/precise/precise_method.h"
#include "core/agent/vm/vm_code.h"
#include "core/wire/layout.h"
#include "core/wire/ring_writer.h"

#include <jvmti.h>

#define PRECISE_SLOTS 1024u

/* A compiled method that samples were in. */
struct precise_slot {
    _Atomic uint64_t key;   /* address of its blob, and the low 16 bits of its id; 0: free */
    _Atomic uint32_t count; /* samples, fading */
    _Atomic uint32_t done;  /* tried: once is enough */
};

struct precise {
    _Atomic uint32_t on;
    _Atomic uint32_t old_id;  /* up to this one compilations are old; UINT32_MAX: not yet known */
    _Atomic uint64_t samples; /* fading as the counts do */
    const struct vm *vm;
    struct ring_writer *ring;
    struct wire_status *status;
    int32_t entry_bci, state; /* offsets in an nmethod */
    struct precise_ids ids;
    uint64_t decide_ns, look_ns, fade_ns, begin_ns; /* when to do what next; CLOCK_MONOTONIC */
    uint32_t recompiled;
    struct precise_slot slot[PRECISE_SLOTS];
};

/* Code compiled from now on has debug information; older code may not. */
void precise_start(struct precise *p, const struct vm *vm, struct ring_writer *ring,
                   struct wire_status *status);
void precise_stop(struct precise *p);

/* A sample's topmost compiled frame is in this code. */
void precise_note(struct precise *p, const struct vm *vm, const struct code *c);

/* Makes what is hot and old recompile; a few methods at a time. */
void precise_turn(struct precise *p, jvmtiEnv *jvmti, JNIEnv *jni);

#endif
