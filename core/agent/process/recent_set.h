/*
 * A set of recently added hashes, of fixed size. In each row, a new hash replaces the oldest. If
 * recent_set_has is true, the hash was added, or another one with the same 44 bits.
 *
 * Context: signal-safe, any thread. If two threads add to a row at once, a hash may be lost.
 */
#ifndef JTOP_AGENT_PROCESS_RECENT_SET_H
#define JTOP_AGENT_PROCESS_RECENT_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RECENT_SET_ROWS 4096u
#define RECENT_SET_WAYS 4

struct recent_set {
    _Atomic uint32_t tag[RECENT_SET_ROWS][RECENT_SET_WAYS]; /* newest first; 0: none */
};

bool recent_set_has(const struct recent_set *s, uint64_t hash);
void recent_set_add(struct recent_set *s, uint64_t hash);

#endif
