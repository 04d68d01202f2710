/*
 * Connects a JVM to us: finds the agent's library, makes the JVM load it, and finds the mapping
 * that we share with the agent; if requested, also opens a socket to the agent.
 *
 * Context: any thread; blocks as long as the attach takes.
 */
#ifndef JTOP_SESSION_AGENT_LINK_H
#define JTOP_SESSION_AGENT_LINK_H

#include "attach/find/jvm.h"
#include "core/session/mapping.h"

#include <stdbool.h>
#include <stddef.h>

#define AGENT_LIBRARY_NAME "libjtop-agent.so"

/* Finds the library's absolute path as this process sees it: where the library is built or
 * installed beside the program. -ENOENT with the places that were searched. `given`: the user's
 * --libpath. An absolute path is used unchanged, because the JVM may see other files than we do. */
int agent_library_find(const char *given, char *out, size_t size, struct err *e);

struct agent_link {
    struct mapping mapping;
    int broker; /* socket to the agent, which asks for perf_events through it; -1: the agent will
                   not ask. It belongs to the caller */
};

/* Makes the JVM load the agent with options, from its own path or from a copy
 * (attach/place/place.h), and maps its ring. `as_given`: the path is one that the JVM sees, so
 * nothing is copied. `offer_broker`: offer to open perf_events for the agent. `timeout_ms` limits
 * the attach. */
int agent_link_open(const struct jvm *j, const char *library, bool as_given, bool offer_broker,
                    uint64_t ring_bytes, int timeout_ms, struct agent_link *link, struct err *e);

#endif
