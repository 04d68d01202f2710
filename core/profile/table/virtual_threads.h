/*
 * The virtual threads of a thread table: rows found by Java id.
 *
 * There may be millions, most sampled once or never, and nobody tells us their end. Once
 * max_virtual have a row, those not sampled for longest are folded into the row of the others
 * (fold.h); until that has happened, new ones go there directly. Their names are their rows' own
 * and go with them, so that names cannot pile up.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_VIRTUAL_THREADS_H
#define JTOP_PROFILE_TABLE_VIRTUAL_THREADS_H

#include "core/profile/table/thread_table.h"

#define VIRTUAL_NAME_SIZE 48

/* The row of this virtual thread, whose id is not 0, begun if need be. 0 or -ENOMEM. */
int virtual_threads_find(struct thread_table *t, uint64_t java_id, uint32_t *thread);
/* `now` in seconds counts as the last time it was heard of. 0 or -ENOMEM. */
int virtual_threads_name(struct thread_table *t, uint64_t java_id, const char *name, uint64_t now);
/* The one place where a virtual thread without a name (NULL) gets one: "VirtualThread[#31]", as in
 * Thread.toString(). Returns `name`, `room` or a constant. */
const char *virtual_threads_shown(const char *name, uint64_t java_id, char room[VIRTUAL_NAME_SIZE]);
/* Whether it is time to free some. */
bool virtual_threads_crowded(const struct thread_table *t);
/* Marks as free the `count` virtual threads that were not heard of for longest, those of the
 * second `since` and later excepted. Returns how many they are; 0 without memory. */
uint32_t virtual_threads_mark(struct thread_table *t, uint32_t count, uint64_t since);
/* Part of thread_table_reclaim: those that are marked can no longer be found. */
void virtual_threads_forget(struct thread_table *t);

#endif
