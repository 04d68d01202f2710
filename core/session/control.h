/*
 * Talking with the agent through the control block: requests go out with a generation number, the
 * agent answers by showing the same number; the heartbeat says that somebody still reads.
 *
 * Context: drain thread only (control_tell_done excepted: under the session's lock).
 */
#ifndef JTOP_SESSION_CONTROL_H
#define JTOP_SESSION_CONTROL_H

#include "core/wire/layout.h"

#include <stdbool.h>

struct control {
    struct wire_control *wire;
    uint32_t generation; /* of the last request; our own copy */
};

/* What the agent says, copied once and made safe: strings are clean and terminated, numbers within
 * their range. */
struct agent_report {
    enum wire_state state;
    bool answered; /* the last request was carried out */
    int error_code;
    struct wire_engine_status engine[WIRE_EVENTS]; /* by event; not running: WIRE_MECHANISM_AUTO */
    bool engine_runs;                              /* one of them at least */
    char walker[32];
    char message[256];
    uint64_t dropped;
    uint64_t failed[WIRE_FAILURES];
    uint64_t agent_ns; /* handlers and the agent's thread */
    uint64_t recompiled;
    uint64_t recompile_ns;
    uint64_t windows;
    uint32_t threads;
};

/* What a START asks for; see struct wire_request. */
struct control_start {
    struct wire_engine_request engine[WIRE_EVENTS];
    uint32_t engines;
    bool all_or_none;
    uint32_t signal, wall_signal;
    uint32_t depth, cut, features; /* of struct wire_request */
    enum wire_walk walk;
    bool precise;
    bool filtered;
    bool window_marks;
    uint64_t window_begin, window_end;
};

void control_init(struct control *c, struct wire_mapping *mapping);
void control_beat(struct control *c);

/* Sends a request and wakes the agent's thread. `start` is read for WIRE_COMMAND_START only. */
void control_request(struct control *c, enum wire_command command,
                     const struct control_start *start);

/* Waits until the agent answers the last request, something else changes, or the time is over. */
void control_wait(struct control *c, int timeout_ms);

bool control_answered(const struct control *c);
/* Says that threads' bits have changed. */
void control_tell_filters(struct control *c);

void control_report(const struct control *c, struct agent_report *out);

/* What an engine's status (a private copy) says, made safe. False: it makes no sense. Any
 * thread. */
bool control_clean_engine(const struct wire_engine_status *in, struct wire_engine_status *out);

/* Tells the agent that all files are written. */
void control_tell_done(struct wire_control *wire);

#endif
