/*
 * The same agent, loaded from another path or of another build: it has globals of its own, and may
 * run in the same JVM. Two of them would take each other's signals and breakpoints.
 *
 * Context: the thread that loads agents.
 */
#ifndef JTOP_AGENT_PROCESS_OTHER_COPY_H
#define JTOP_AGENT_PROCESS_OTHER_COPY_H

#include <stdbool.h>

/* Whether another copy has its mapping open; asked while ours has none. */
bool other_copy_active(void);

#endif
