/*
 * perf_events that a privileged reader opens for a JVM that may not: `--fdtransfer`, and by itself
 * where the reader has the right and the JVM has not.
 *
 *   The reader listens at a SOCK_SEQPACKET socket whose path, as the JVM sees it, is the agent's
 *   option "broker=PATH"; Agent_OnAttach connects, the reader accepts one connection, of that JVM,
 *   and the path is gone. The agent's own thread asks for one event at a time a thread; the answer
 *   brings the descriptor as ancillary data. Neither side waits long for the other, and no thread
 *   of the application ever waits at all.
 *
 * What is opened is the reader's choice, not the agent's: the attributes come from the reader's own
 * copy of its request, the thread must be one of that JVM. So the agent can have nothing that the
 * one who started the reader did not ask for.
 *
 * Context: constants and plain data, little endian; both sides check all of it.
 */
#ifndef JTOP_WIRE_BROKER_H
#define JTOP_WIRE_BROKER_H

#include <assert.h>
#include <stdint.h>

/* How an engine's reason begins (layout.h) where its events are opened so: nothing is amiss then. */
#define BROKER_REASON "opened by jtop-prof"

struct broker_question {
    uint32_t number;     /* comes back in the answer */
    uint32_t event;      /* enum wire_event: CPU or PERF */
    uint32_t tid;        /* in the JVM's own pid namespace */
    uint32_t generation; /* of the request (layout.h) that it is for */
};

/* ESTALE: the request is another one by now. ESRCH: there is no such thread. */
struct broker_answer {
    uint32_t number;
    int32_t error; /* 0: a descriptor comes with it, its event disabled; else an errno */
};

static_assert(sizeof(struct broker_question) == 16, "wire ABI");
static_assert(sizeof(struct broker_answer) == 8, "wire ABI");

#endif
