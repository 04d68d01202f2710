/*
 * Communication with the agent through the control block. Requests carry a generation number;
 * the agent answers by showing the same number. The heartbeat tells the agent that a reader
 * still exists.
 *
 * Context: drain thread only (except control_tell_done: with the session's lock).
 */
#ifndef JTOP_SESSION_CONTROL_H
#define JTOP_SESSION_CONTROL_H

#include "core/wire/layout.h"

#include <stdbool.h>

struct control {
    struct wire_control *wire;
    uint32_t generation; /* of the last request; our own copy */
};

/* The agent's status, copied once and made safe: strings are printable and terminated, numbers are
 * in range. */
struct agent_report {
    enum wire_state state;
    bool answered; /* the last request was carried out */
    int error_code;
    struct wire_engine_status engine[WIRE_EVENTS]; /* by event; not running: WIRE_MECHANISM_AUTO */
    bool engine_runs;                              /* at least one of them runs */
    char walker[32];
    char message[256];
    uint64_t dropped;
    uint32_t discarded; /* samples of handlers themselves */
    uint64_t failed[WIRE_FAILURES];
    uint64_t agent_ns; /* CPU time of signal handlers and of the agent's thread */
    uint64_t recompiled;
    uint64_t recompile_ns;
    uint64_t windows;
    uint32_t threads;
    enum wire_java_report java;
};

/* The contents of a START; see struct wire_request. */
struct control_start {
    struct wire_engine_request engine[WIRE_EVENTS];
    uint32_t engines;
    bool all_or_none;
    bool sigtrap; /* CPU time by WIRE_MECHANISM_SIGTRAP, if the agent can */
    uint32_t signal, wall_signal;
    uint32_t depth, cut, features; /* see struct wire_request */
    enum wire_walk walk;
    bool precise;
    bool filtered;
    bool window_marks;
    uint64_t window_begin, window_end;
};

void control_init(struct control *c, struct wire_mapping *mapping);
void control_beat(struct control *c);

/* Sends a request and wakes the agent's thread. `start` is used for WIRE_COMMAND_START only. */
void control_request(struct control *c, enum wire_command command,
                     const struct control_start *start);

/* Waits until the agent answers the last request, its status changes otherwise, or the timeout
 * expires. */
void control_wait(struct control *c, int timeout_ms);

bool control_answered(const struct control *c);
/* Whether the agent is in WIRE_STATE_RUNNING. */
bool control_runs(const struct control *c);
/* Tells the agent that bits of threads have changed. */
void control_tell_filters(struct control *c);

/* Asks the agent for the Java states of threads; 0: no more. See wire_request.java_states. */
void control_ask_java_states(struct control *c, uint32_t number);

void control_report(const struct control *c, struct agent_report *out);

/* Makes an engine's status (a private copy) safe. False: it is invalid. Any thread. */
bool control_clean_engine(const struct wire_engine_status *in, struct wire_engine_status *out);

/* Tells the agent that all files are written. */
void control_tell_done(struct wire_control *wire);

#endif
