/*
 * perf_events that a privileged reader opens for a JVM that may not open them: with `--fdtransfer`,
 * and also without it if only the reader has the right.
 *
 *   The reader listens at a SOCK_SEQPACKET socket. Its path, as the JVM sees it, is the agent's
 *   option "broker=PATH". Agent_OnAttach connects; the reader accepts one connection, of that JVM,
 *   and removes the path. The agent's own thread asks for one event of one thread at a time. The
 *   answer brings the descriptor as ancillary data. Neither side waits long for the other, and no
 *   thread of the application ever waits.
 *
 * The reader, not the agent, decides what is opened: the attributes come from the reader's own copy
 * of its request, and the thread must belong to that JVM. So the agent gets nothing that the
 * reader's user did not ask for.
 *
 * Context: constants and plain data, little endian; both sides check all of it.
 */
#ifndef JTOP_WIRE_BROKER_H
#define JTOP_WIRE_BROKER_H

#include <assert.h>
#include <stdint.h>

/* If the reader opens an engine's events, the engine's reason (layout.h) begins with this text. It
 * is not an error. */
#define BROKER_REASON "opened by jtop-prof"

#define BROKER_SIGTRAP (UINT32_C(1) << 31) /* in broker_question.event */

struct broker_question {
    uint32_t number;     /* comes back in the answer */
    uint32_t event;      /* enum wire_event: CPU or PERF; with BROKER_SIGTRAP: an event that sends
                            SIGTRAP (perf_attr_trap), with the details perf_trap_data(tid) */
    uint32_t tid;        /* in the JVM's own pid namespace */
    uint32_t generation; /* of the request (layout.h) that needs the event */
};

/* ESTALE: the reader has another request by now. ESRCH: there is no such thread. */
struct broker_answer {
    uint32_t number;
    int32_t error; /* 0: a descriptor comes with it, its event disabled; otherwise an errno */
};

static_assert(sizeof(struct broker_question) == 16, "wire ABI");
static_assert(sizeof(struct broker_answer) == 8, "wire ABI");

#endif
