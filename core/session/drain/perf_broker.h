/*
 * Opens perf_events for a JVM that is not allowed to: our end of the socket (core/wire/broker.h). A
 * separate thread answers the agent's questions.
 *
 * The agent may be hostile. It gets only events of the kinds in our own request, with attributes
 * that we derive from it, on threads of its own process. An invalid question ends the connection.
 * More questions than an application starts threads must wait.
 *
 * Context: any thread. perf_broker_allow and perf_broker_end: one thread at a time.
 */
#ifndef JTOP_SESSION_DRAIN_PERF_BROKER_H
#define JTOP_SESSION_DRAIN_PERF_BROKER_H

#include "attach/find/jvm.h"
#include "core/wire/layout.h"

#include <stdbool.h>

struct perf_broker;

/* Whether this process may open events that count kernel work, also in other users' processes. 0,
 * or the kernel's -errno. */
int perf_broker_right(void);

/* Whether `j` may lack the right, so that it is worth offering it a socket. */
bool perf_broker_helps(const struct jvm *j);

/* Serves `fd`, which is connected to the agent in `j`. It takes over `fd` even on failure. 0
 * or -errno. */
int perf_broker_begin(const struct jvm *j, int fd, struct perf_broker **out);

/* From now on the agent may ask for these engines, for the request with this generation number; 0
 * engines: none. */
void perf_broker_allow(struct perf_broker *b, const struct wire_engine_request *engine,
                       uint32_t engines, uint32_t generation);

/* NULL is fine. */
void perf_broker_end(struct perf_broker *b);

#endif
