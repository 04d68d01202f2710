/*
 * The agent's end of the socket through which a reader opens perf_events for the agent, if the JVM
 * may not open them itself. See core/wire/broker.h.
 *
 * Context: only the agent's thread calls broker_ask. No function here is signal-safe.
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

/* Connects without waiting. If `path` is "" or no process listens there, the broker stays closed
 * (`open` is false). */
void broker_connect(struct broker *b, const char *path);
/* Closes the connection. Idempotent. */
void broker_close(struct broker *b);

/* Asks the reader for a perf_event that counts thread `tid`. `event`: as in struct broker_question.
 * Returns its descriptor, which the caller owns; the event is disabled. Or -errno:
 *   -ESRCH      there is no such thread
 *   -ETIMEDOUT  no answer in `wait_ms`, *quit is set, or the reader has a newer request by now;
 *               the caller may ask again
 *   -ENOTCONN   the reader is gone or sent an invalid answer; the broker is closed
 *   others      why the kernel refused; -EMFILE also if this process has no descriptor left */
int broker_ask(struct broker *b, uint32_t event, uint32_t tid, uint32_t wait_ms);

#endif
