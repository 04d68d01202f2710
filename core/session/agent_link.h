/*
 * From a JVM to a mapping we share with the agent in it: finds the agent's library, makes the JVM
 * load it, finds the mapping; and, where wanted, a socket to the agent.
 *
 * Context: blocks for as long as the attach takes; any thread.
 */
#ifndef JTOP_SESSION_AGENT_LINK_H
#define JTOP_SESSION_AGENT_LINK_H

#include "attach/find/jvm.h"
#include "core/session/mapping.h"

#include <stdbool.h>
#include <stddef.h>

#define AGENT_LIBRARY_NAME "libjtop-agent.so"

/* The library's absolute path as we see it: where one is built or installed beside the program.
 * -ENOENT with the places looked at. `given`: the user's --libpath, which is taken as it is where it
 * is absolute: the JVM sees other files than we do. */
int agent_library_find(const char *given, char *out, size_t size, struct err *e);

struct agent_link {
    struct mapping mapping;
    int broker; /* connected to the agent: it asks for perf_events by it; -1: it will not. The
                   caller's */
};

/* Makes the JVM load the agent, from where it is or from a copy (attach/place/place.h), with
 * options, and maps its ring. `as_given`: the path is one that the JVM sees; nothing is placed. `offer_broker`:
 * we could open perf_events for it. `timeout_ms` bounds the attach. */
int agent_link_open(const struct jvm *j, const char *library, bool as_given, bool offer_broker,
                    uint64_t ring_bytes, int timeout_ms, struct agent_link *link, struct err *e);

#endif
