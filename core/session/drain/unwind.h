/*
 * Keeps the unwind tables of a JVM's native code up to date in the shared mapping. A separate
 * thread does this, because reading a large library takes a while and the ring must be drained
 * meanwhile.
 *
 * A file is read once, however often it is mapped, unloaded and loaded again. The most important
 * files come first. If it takes long, the tables read so far are published in between.
 *
 * Context: drain thread, or the thread that starts the drain thread (before that) or has joined it.
 */
#ifndef JTOP_SESSION_DRAIN_UNWIND_H
#define JTOP_SESSION_DRAIN_UNWIND_H

#include "core/base/err.h"
#include "core/wire/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define UNWIND_PAUSE_MS 100

struct unwind;

/* Starts the thread with the tables of the process. `area` must stay mapped until unwind_stop(), and
 * so must `fd` stay open, the file that has it at `offset` (-1: there is none). */
int unwind_start(pid_t pid, struct wire_unwind *area, int fd, uint64_t offset, struct unwind **out,
                 struct err *e);

/* Libraries were loaded or unloaded. If this is called all the time, the thread still waits
 * UNWIND_PAUSE_MS between two readings of the maps. */
void unwind_refresh(struct unwind *u);

/* Whether the tables must be complete when these engines start. The first samples of CPU time and of
 * time come an interval later; of other events, the first one may be sampled. */
bool unwind_needs_all(const struct wire_engine_request *engine, uint32_t engines);

/* Waits until all pending work is published. With `all` false, returns earlier if the table of the
 * most important file, the VM, was in the cache (symbols/unwind/unwind_cache.h) and is published: the
 * rest usually takes milliseconds. False: not everything is published yet. */
bool unwind_wait(struct unwind *u, int timeout_ms, bool all);

/* Whether tables were left out since the last call; describes them in one line for people. */
bool unwind_trouble(struct unwind *u, char *out, size_t size);

/* Ends the thread; waits until the file that is being read, or kept in the cache, is finished. The published tables stay.
 * NULL is fine. */
void unwind_stop(struct unwind *u);

#endif
