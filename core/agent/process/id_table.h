/*
 * Gives small numbers to 64-bit identities when they are first seen: a lock-free hash set in which
 * the slot number is the id. It has levels of growing size, so that few methods touch few pages.
 *
 * Methods are loaded and unloaded with their classes, so identities that are no longer used
 * accumulate. So there are two halves with separate ids. When the half in use gets full, the other
 * one is taken into use, and identities that still occur get new ids in it. An id can be given to
 * another identity only after the other half was in use in between.
 *
 * Context: id_table_find and id_table_announced are signal-safe, any thread. Only the agent's
 * thread maps the memory (about 18 MB of address space, touched as needed) and changes the halves.
 */
#ifndef JTOP_AGENT_PROCESS_ID_TABLE_H
#define JTOP_AGENT_PROCESS_ID_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ID_TABLE_FULL UINT32_MAX

struct id_table {
    _Atomic uint64_t *slots;
    _Atomic uint32_t half;  /* the half in use: 0 or 1 */
    _Atomic uint32_t turns; /* calls of id_table_turn so far */
    _Atomic uint32_t used;  /* ids given in this half */
    bool old_is_dirty;      /* the other half was not cleaned yet */
};

int id_table_map(struct id_table *t); /* 0 or -errno */
void id_table_unmap(struct id_table *t);

/* Takes the other half into use, which must be clean. */
void id_table_turn(struct id_table *t);
/* Cleans the half that is not in use, and frees its memory. No handler that was running before
 * id_table_turn may still be running. */
void id_table_clean(struct id_table *t);

/* Returns the identity's id; ID_TABLE_FULL: no room. *is_new: it was not announced yet, and the
 * caller must announce it. Another thread may do so at the same time, which does no harm. */
uint32_t id_table_find(struct id_table *t, uint64_t identity, bool *is_new);

/* Marks an id as announced. */
void id_table_announced(struct id_table *t, uint32_t id);

#endif
