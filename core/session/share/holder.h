/*
 * Finds the process that reads the stream of a busy agent: the process that has the agent's
 * memfd mapped.
 *
 * Context: frontend, any thread. Only reads /proc.
 */
#ifndef JTOP_SESSION_SHARE_HOLDER_H
#define JTOP_SESSION_SHARE_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns the other jtop-prof that reads this JVM; 0: none was found, or we may not see it. */
pid_t holder_find(pid_t jvm);

/* Whether a process that we cannot see reads the JVM, from a pid namespace above or beside
 * ours: an agent is active there. If that agent may be about to detach, the function waits up
 * to a second. */
bool holder_hidden(pid_t jvm);

#endif
