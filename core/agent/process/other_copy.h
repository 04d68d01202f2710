/*
 * Another copy of the agent, loaded from another path or from another build. It has its own global
 * variables, and may be active in the same JVM. Two active copies would take each other's signals
 * and breakpoints.
 *
 * Context: the thread that loads agents.
 */
#ifndef JTOP_AGENT_PROCESS_OTHER_COPY_H
#define JTOP_AGENT_PROCESS_OTHER_COPY_H

#include <stdbool.h>

/* Whether another copy has an open mapping. Call it only while this copy has none. */
bool other_copy_active(void);

#endif
