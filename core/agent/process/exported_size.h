/*
 * The size of a function that a loaded library exports, from the library's table of dynamic
 * symbols. dladdr1 does the same, but musl does not have it.
 *
 * Source: ELF gABI (dynamic section, hash table), the GNU hash table.
 *
 * Context: the agent's thread, while the library stays loaded.
 */
#ifndef JTOP_AGENT_PROCESS_EXPORTED_SIZE_H
#define JTOP_AGENT_PROCESS_EXPORTED_SIZE_H

#include <stdint.h>

/* Returns the size of the function `name` that begins at `address`, in bytes; 0: not known. */
uint64_t exported_size(const char *name, uintptr_t address);

#endif
