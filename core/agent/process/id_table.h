/*
 * Small numbers for 64-bit identities, given at first sight: a lock-free hash set whose slot
 * number is the id. Levels of growing size, so that few methods touch few pages.
 *
 * Methods come and go with their classes, so identities that are never met again pile up. For that
 * there are two halves with ids of their own: one is in use; when it holds much the other one is
 * put to use, and what is still met gets a new id there. An id means something else only after
 * both halves were in use since.
 *
 * Context: id_table_find and id_table_announced are signal-safe, any thread. The memory (about 18
 * MB of address space, touched as needed) and the halves are the agent's thread's.
 */
#ifndef JTOP_AGENT_PROCESS_ID_TABLE_H
#define JTOP_AGENT_PROCESS_ID_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ID_TABLE_FULL UINT32_MAX

struct id_table {
    _Atomic uint64_t *slots;
    _Atomic uint32_t half; /* in use: 0 or 1 */
    _Atomic uint32_t used; /* ids given in it */
    bool old_is_dirty;     /* the other one still holds what it held */
};

int id_table_map(struct id_table *t); /* 0 or -errno */
void id_table_unmap(struct id_table *t);

/* Puts the other half to use, which must be clean. */
void id_table_turn(struct id_table *t);
/* Cleans the half that is not in use and gives its memory back. No handler may run any more
 * that ran before id_table_turn. */
void id_table_clean(struct id_table *t);

/* The identity's id; *is_new: it has not been announced yet, and the caller must do it (others may
 * be at it too: twice does no harm). ID_TABLE_FULL: no room. */
uint32_t id_table_find(struct id_table *t, uint64_t identity, bool *is_new);

/* It was announced. */
void id_table_announced(struct id_table *t, uint32_t id);

#endif
