/*
 * perf_events that we open for a JVM that may not: our end of the socket (core/wire/broker.h). A
 * thread of its own answers the agent's questions.
 *
 * The agent may be hostile. It gets events of the kinds that our own request names, with the
 * attributes that we make from it, on threads of the process it lives in, and nothing else: a
 * question that makes no sense ends the connection, and more of them than an application starts
 * threads have to wait.
 *
 * Context: any thread; perf_broker_allow and _end by one at a time.
 */
#ifndef JTOP_SESSION_DRAIN_PERF_BROKER_H
#define JTOP_SESSION_DRAIN_PERF_BROKER_H

#include "attach/find/jvm.h"
#include "core/wire/layout.h"

#include <stdbool.h>

struct perf_broker;

/* Whether this process may open events that count what the kernel does, in other users' processes
 * too. 0, or -errno of the kernel. */
int perf_broker_right(void);

/* Whether `j` may lack the right: offering ours costs it a socket. */
bool perf_broker_helps(const struct jvm *j);

/* Serves `fd`, connected to the agent in `j`: taken, whatever comes of it. 0 or -errno. */
int perf_broker_begin(const struct jvm *j, int fd, struct perf_broker **out);

/* From here on it may ask for these, for the request of that number; 0 engines: nothing. */
void perf_broker_allow(struct perf_broker *b, const struct wire_engine_request *engine,
                       uint32_t engines, uint32_t generation);

/* NULL is fine. */
void perf_broker_end(struct perf_broker *b);

#endif
