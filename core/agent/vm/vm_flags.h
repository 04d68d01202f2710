/*
 * HotSpot's boolean -XX flags (source: jvmFlag.hpp; Flag in JDK 8).
 *
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_VM_VM_FLAGS_H
#define JTOP_AGENT_VM_VM_FLAGS_H

#include <stdbool.h>

/* Sets a boolean flag; *before becomes its previous value. Only for flags that the VM reads again
 * each time it needs them. False: this VM has no such flag. */
bool vm_flag_set(const char *name, bool value, bool *before);

/* Gets a boolean flag's value. False: this VM has no such flag. */
bool vm_flag_get(const char *name, bool *out);

#endif
