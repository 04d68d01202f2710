/*
 * From a JVM to a mapping we share with the agent in it: finds the agent's library, makes the JVM
 * load it, finds the mapping.
 *
 * Context: blocks for as long as the attach takes; any thread.
 */
#ifndef JTOP_SESSION_AGENT_LINK_H
#define JTOP_SESSION_AGENT_LINK_H

#include "attach/jvm.h"
#include "core/session/mapping.h"

#include <stddef.h>

#define AGENT_LIBRARY_NAME "libjtop-agent.so"

/* The library's absolute path: `given`, or where one is built or installed beside the program.
 * -ENOENT with the places looked at. */
int agent_library_find(const char *given, char *out, size_t size, struct err *e);

/* Loads the agent with options and maps its ring. `timeout_ms` bounds the attach. */
int agent_link_open(const struct jvm *j, const char *library, uint64_t ring_bytes, int timeout_ms,
                    struct mapping *out, struct err *e);

#endif
