/*
 * The agent's option string: "session=N,ring=BYTES" from an attaching reader, or the command line
 * form "start,event=cpu,interval=1ms,file=out.svg". Options that only the reader needs are passed
 * on to it unchanged.
 *
 * Context: Agent_OnLoad and Agent_OnAttach.
 */
#ifndef JTOP_AGENT_AGENT_OPTIONS_H
#define JTOP_AGENT_AGENT_OPTIONS_H

#include "core/wire/layout.h"

#include <stdbool.h>

struct agent_options {
    uint64_t session;
    uint64_t ring_bytes; /* power of two */
    bool start;
    bool has_file;                                  /* "file=": the reader writes a file */
    struct wire_engine_request engine[WIRE_EVENTS]; /* to start at once, where `plain` is true */
    uint32_t engines;
    bool plain; /* engine[] needs nothing that the reader has to look up. Exception: alloc before
                   JDK 11 needs addresses; the reader then sends a request of its own. */
    uint32_t own, flags;  /* for the parser: events with an interval of their own; flags to set */
    uint64_t interval;    /* "interval=", until the parser gives it to an event */
    int32_t cpu;          /* "target-cpu=" */
    uint32_t signal;      /* of the CPU engines; 0: default */
    uint32_t wall_signal; /* of the wall engine */
    uint32_t depth;       /* 0: default */
    uint32_t cut;         /* as in struct wire_request */
    uint32_t features;    /* set of enum wire_feature */
    uint32_t walk;        /* enum wire_walk */
    bool precise;         /* recompile hot methods with debug information */
    char map[64];         /* the reader's memfd, or "" */
    char broker[108];     /* socket of a reader that can open perf_events for the agent, or "" */
    char frontend[512];   /* path of the reader's program; "": search for it */
    char text[2048];      /* the whole string, for the reader */
};

/* Returns false for an invalid string: a wrong number, or a text that is too long. */
bool agent_options_parse(const char *text, struct agent_options *o);

#endif
