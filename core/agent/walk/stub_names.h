/*
 * The VM's own names of its stubs. One code blob ("StubRoutines (2)", "vtable chunks") holds many
 * routines; the VM tells where each lies and what it is called by JVMTI's DynamicCodeGenerated
 * event: "jbyte_disjoint_arraycopy_avx3", "itable stub".
 *
 * Source: JVMTI (GenerateEvents), stubCodeGenerator.cpp, vtableStubs.cpp.
 *
 * Context: each function says. One user at a time.
 */
#ifndef JTOP_AGENT_WALK_STUB_NAMES_H
#define JTOP_AGENT_WALK_STUB_NAMES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#define STUB_NAME_BYTES 52

struct stub_name {
    uintptr_t begin;
    uint32_t bytes;
    char name[STUB_NAME_BYTES]; /* cut; NUL-terminated */
};

/* Requests the existing routines, and receives new ones. `callbacks`: those of `jvmti` as they are
 * set. Does nothing if memory runs out. The agent's thread. */
void stub_names_open(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks);
/* No handler may run. The agent's thread, or VMDeath. */
void stub_names_close(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks);

/* Puts those that came in order, so that they are found. The agent's thread. */
void stub_names_turn(void);

/* The routine that `pc` is in. False: none is known, or they are just being put in order.
 * Signal-safe. */
bool stub_names_find(uintptr_t pc, struct stub_name *out);

#endif
