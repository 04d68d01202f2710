/*
 * The unwind tables of a JVM's native code, kept up to date in the shared mapping by a thread of
 * their own: reading a large library takes a while, and the ring must be drained meanwhile.
 *
 * A file is read once, however often it is mapped, unloaded and loaded again. What matters most
 * comes first; where it takes long, what is there already is published in between.
 *
 * Context: drain thread, or whoever started it or has joined it.
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

/* Begins with the tables of the process. `area` must stay mapped until unwind_stop(). */
int unwind_start(pid_t pid, struct wire_unwind *area, struct unwind **out, struct err *e);

/* Libraries came or went. Who says so all the time is heard UNWIND_PAUSE_MS after the last look. */
void unwind_refresh(struct unwind *u);

/* Waits until everything that was to be done is published. False: it takes longer. */
bool unwind_wait(struct unwind *u, int timeout_ms);

/* Whether something is left out since this was asked last, and what, in one line for people. */
bool unwind_trouble(struct unwind *u, char *out, size_t size);

/* Ends the thread; takes as long as the file that is being read. What was published stays. NULL is
 * fine. */
void unwind_stop(struct unwind *u);

#endif
