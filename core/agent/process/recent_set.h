/*
 * What was done lately: a set of hashes of fixed size, in rows in which each newcomer drives out
 * the oldest. It forgets; what it says it has was put in, or shares 44 bits with what was.
 *
 * Context: signal-safe, any thread. Two that add to a row at once may lose one of their hashes.
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
