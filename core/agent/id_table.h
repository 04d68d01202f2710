/*
 * Small numbers for 64-bit identities, given at first sight: a lock-free hash set whose slot
 * number is the id. Three levels of growing size, so that few methods touch few pages.
 *
 * Context: id_table_find and id_table_announced are signal-safe, any thread. The memory (about 9 MB
 * of address space, touched as needed) is mapped and unmapped by the agent's thread only.
 */
#ifndef JTOP_AGENT_ID_TABLE_H
#define JTOP_AGENT_ID_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ID_TABLE_FULL UINT32_MAX

struct id_table {
    _Atomic uint64_t *slots;
};

int id_table_map(struct id_table *t); /* 0 or -errno */
void id_table_unmap(struct id_table *t);

/* The identity's id; *is_new: it has not been announced yet, and the caller must do it (others may
 * be at it too: twice does no harm). ID_TABLE_FULL: no room. */
uint32_t id_table_find(struct id_table *t, uint64_t identity, bool *is_new);

/* It was announced. */
void id_table_announced(struct id_table *t, uint32_t id);

#endif
