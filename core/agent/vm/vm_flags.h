/*
 * HotSpot's -XX flags, as far as the agent changes one (source: jvmFlag.hpp; Flag in JDK 8).
 *
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_VM_VM_FLAGS_H
#define JTOP_AGENT_VM_VM_FLAGS_H

#include <stdbool.h>

/* Sets a boolean flag that the VM reads each time it needs it. Gives its value before in *before.
 * False: this VM has no such flag. */
bool vm_flag_set(const char *name, bool value, bool *before);

/* A boolean flag's value. False: this VM has no such flag. */
bool vm_flag_get(const char *name, bool *out);

#endif
