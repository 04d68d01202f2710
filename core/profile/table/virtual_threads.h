/*
 * The virtual threads of a thread table: rows that are found by Java id.
 *
 * There may be millions of virtual threads, most of them sampled once or never, and their end is
 * not reported. Once max_virtual have a row, those that were not sampled for longest are folded
 * into the row of the others (fold.h); until that has happened, new ones use that row directly. A
 * virtual thread's name belongs to its row and is freed with it, so names cannot pile up.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_VIRTUAL_THREADS_H
#define JTOP_PROFILE_TABLE_VIRTUAL_THREADS_H

#include "core/profile/table/thread_table.h"

#define VIRTUAL_NAME_SIZE 48

/* Finds the row of this virtual thread, or adds one. The id must not be 0. 0 or -ENOMEM. */
int virtual_threads_find(struct thread_table *t, uint64_t java_id, uint32_t *thread);
/* Sets the name. `now` in seconds counts as the last time that the thread was active. 0 or
 * -ENOMEM. */
int virtual_threads_name(struct thread_table *t, uint64_t java_id, const char *name, uint64_t now);
/* Returns the name to show. Only this function names a virtual thread without a name (NULL):
 * "VirtualThread[#31]", as in Thread.toString(). Returns `name`, `room` or a constant. */
const char *virtual_threads_shown(const char *name, uint64_t java_id, char room[VIRTUAL_NAME_SIZE]);
/* Whether some virtual threads should be freed now. */
bool virtual_threads_crowded(const struct thread_table *t);
/* Marks as free the `count` virtual threads that were not active for longest, except those active
 * in second `since` or later. Returns how many it marked; 0 if there is no memory. */
uint32_t virtual_threads_mark(struct thread_table *t, uint32_t count, uint64_t since);
/* Part of thread_table_reclaim: the marked threads can no longer be found. */
void virtual_threads_forget(struct thread_table *t);

#endif
