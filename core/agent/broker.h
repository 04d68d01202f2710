/*
 * perf_events that the reader opens for us, where the JVM may not: the agent's end of the socket.
 * See core/wire/broker.h.
 *
 * Context: broker_ask by the agent's thread only; nothing here is for signal handlers.
 */
#ifndef JTOP_AGENT_BROKER_H
#define JTOP_AGENT_BROKER_H

#include <stdbool.h>
#include <stdint.h>

struct broker {
    bool open;
    int fd;
    uint32_t number;     /* of the last question */
    uint32_t generation; /* of the request that is being carried out */
    const _Atomic bool *quit;
};

/* Connects without waiting. Nothing happens where `path` is "" or nobody listens: such a broker is
 * not open. */
void broker_connect(struct broker *b, const char *path);
/* May be called again. */
void broker_close(struct broker *b);

/* A descriptor of a disabled perf_event that counts thread `tid`; the caller's. Or -errno: -ESRCH,
 * there is no such thread; -ETIMEDOUT, no answer in `wait_ms`, or *quit is set, or the reader has
 * another request by now, and it may be asked again; -ENOTCONN, the reader is gone or made no
 * sense, and the broker is closed; else why the kernel would not. */
int broker_ask(struct broker *b, uint32_t event, uint32_t tid, uint32_t wait_ms);

#endif
