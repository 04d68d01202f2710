/*
 * Who reads the stream of an agent that is busy: the process that has the agent's memfd mapped.
 *
 * Context: frontend, any thread. Looks at /proc only.
 */
#ifndef JTOP_SESSION_SHARE_HOLDER_H
#define JTOP_SESSION_SHARE_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* The other jtop-prof that reads this JVM, or 0 where none is found or may be looked at. */
pid_t holder_find(pid_t jvm);

/* Whether somebody reads it whom we cannot see, from a pid namespace above or beside ours: an agent
 * is at work there. Where that may only be one on its way out, this waits a second. */
bool holder_hidden(pid_t jvm);

#endif
