/*
 * The VM's own names of its stubs. One code blob ("StubRoutines (2)", "vtable chunks") holds many
 * routines. With JVMTI's DynamicCodeGenerated event, the VM reports the address and the name of
 * each routine: "jbyte_disjoint_arraycopy_avx3", "itable stub".
 *
 * Source: JVMTI (GenerateEvents), stubCodeGenerator.cpp, vtableStubs.cpp.
 *
 * Context: see each function. One user at a time.
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
    char name[STUB_NAME_BYTES]; /* NUL-terminated; long names are cut */
};

/* Requests the names of existing stubs, and receives those of new ones. `callbacks`: the callbacks
 * that are set in `jvmti`. If there is no memory, does nothing. The agent's thread. */
void stub_names_open(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks);
/* No handler may be running. The agent's thread, or VMDeath. */
void stub_names_close(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks);

/* Sorts the names received since the last call, so that they can be found. The agent's thread. */
void stub_names_turn(void);

/* Finds the routine that `pc` is in. False: none is known, or the names are being sorted right now.
 * Signal-safe. */
bool stub_names_find(uintptr_t pc, struct stub_name *out);

#endif
