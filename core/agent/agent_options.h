/*
 * The agent's option string: "session=N,ring=BYTES" from an attaching reader, or the command line
 * form "start,event=cpu,interval=1ms,file=out.svg". What only the reader needs is handed on to it
 * as it is.
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
    bool has_file;                                  /* a reader is wanted */
    struct wire_engine_request engine[WIRE_EVENTS]; /* what to start at once … */
    uint32_t engines;
    bool plain; /* … where it needs nothing that the reader would have to look up (but for
                             alloc before JDK 11, which the one that starts it has to know) */
    uint32_t own, flags;  /* while it is read: events with an interval of their own; what to set */
    uint64_t interval;    /* "interval=", until it is some event's */
    int32_t cpu;          /* "target-cpu=" */
    uint32_t signal;      /* of the CPU engines; 0: default */
    uint32_t wall_signal; /* of the wall engine */
    uint32_t depth;       /* 0: default */
    uint32_t cut;         /* of struct wire_request */
    uint32_t features;    /* set of enum wire_feature */
    uint32_t walk;        /* enum wire_walk */
    bool precise;         /* make hot methods recompile with debug information */
    char map[64];         /* the reader's memfd, or "" */
    char broker[108];     /* the socket of a reader that would open perf_events for us, or "" */
    char frontend[512];   /* the reader's program, or "": beside the library */
    char text[2048];      /* the whole string, for the reader */
};

/* False where it makes no sense to go on (a number that is none, a text too long). */
bool agent_options_parse(const char *text, struct agent_options *o);

#endif
