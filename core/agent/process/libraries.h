/*
 * Where native code can be: the executable segments of everything loaded. A word on the stack is a
 * return address into native code only if it points into one of them.
 *
 * Context: libraries_refresh in the agent's thread only; libraries_contain is signal-safe.
 */
#ifndef JTOP_AGENT_PROCESS_LIBRARIES_H
#define JTOP_AGENT_PROCESS_LIBRARIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LIBRARIES_MAX 2048

struct code_range {
    uintptr_t begin, end;
};

/* Two copies: readers use the current one while the other is filled. */
struct libraries {
    struct code_range range[2][LIBRARIES_MAX]; /* sorted by begin */
    uint32_t count[2];
    _Atomic uint32_t current;
    uint64_t loads; /* the loader's count of loads and unloads at the last refresh */
};

/* Reads the list again if a library was loaded or unloaded since the last call; then true. */
bool libraries_refresh(struct libraries *l);

bool libraries_contain(const struct libraries *l, uintptr_t pc);

#endif
