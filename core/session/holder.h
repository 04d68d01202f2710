/*
 * Who reads the stream of an agent that is busy: the process that has the agent's memfd mapped.
 *
 * Context: frontend, any thread. Looks at /proc only.
 */
#ifndef JTOP_SESSION_HOLDER_H
#define JTOP_SESSION_HOLDER_H

#include <sys/types.h>

/* The other jtop-prof that reads this JVM, or 0 where none is found or may be looked at. */
pid_t holder_find(pid_t jvm);

#endif
