/*
 * How long a function is that a loaded library exports, by the library's own table of dynamic
 * symbols: what dladdr1 tells, which musl has not.
 *
 * Source: ELF gABI (dynamic section, hash table), the GNU hash table.
 *
 * Context: the agent's thread, while the library stays loaded.
 */
#ifndef JTOP_AGENT_PROCESS_EXPORTED_SIZE_H
#define JTOP_AGENT_PROCESS_EXPORTED_SIZE_H

#include <stdint.h>

/* Of the function `name`, which begins at `address`; 0 where no library says. */
uint64_t exported_size(const char *name, uintptr_t address);

#endif
