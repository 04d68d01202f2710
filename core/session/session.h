/*
 * One profile being taken (or replayed): the agent attached to a JVM, the ring drained by a thread
 * of its own, records decoded and symbolized into a profile. Drawing and exporting never hold up
 * sampling: they take snapshots between session_lock and session_unlock and work on those.
 *
 * Context: frontend only. One caller thread; the drain thread is internal.
 */
#ifndef JTOP_SESSION_SESSION_H
#define JTOP_SESSION_SESSION_H

#include "attach/jvm.h"
#include "core/base/err.h"
#include "core/profile/profile.h"
#include "core/wire/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct session_options {
    const char *library;           /* the agent as the target sees it; NULL: found beside us */
    enum wire_event event;         /* WIRE_EVENT_CPU */
    enum wire_mechanism mechanism; /* WIRE_MECHANISM_AUTO */
    uint64_t interval;             /* 0: the event's default (cpu: 10 ms) */
    uint32_t depth;                /* Java frames kept; 0: WIRE_DEPTH_DEFAULT */
    enum wire_walk walk;           /* WIRE_WALK_VM */
    bool precise;                  /* make hot methods recompile with debug information */
    uint64_t ring_bytes;           /* 0: WIRE_RING_BYTES_DEFAULT; rounded up to a power of two */
    uint32_t history_seconds;      /* 0: PROFILE_HISTORY_SECONDS */
    const char *record;            /* also write the raw stream to this file; NULL: do not */
};

enum session_phase {
    SESSION_RUNNING,  /* samples come in */
    SESSION_STOPPED,  /* engines stopped as asked; the profile is complete */
    SESSION_JVM_GONE, /* the JVM ended or was killed; everything committed was read */
    SESSION_REPLAYED, /* all of a recording was read */
    SESSION_FAILED,   /* see message */
};

/* All one needs to say how good the profile is. */
struct session_status {
    enum session_phase phase;
    char event[16];      /* "cpu" */
    char mechanism[16];  /* "perf", "ctimer", "itimer" */
    char reason[128];    /* why this mechanism; empty: first choice */
    char walker[32];     /* the one in use: "vm" … */
    char message[256];   /* last warning or error for people, e.g. what a pause of ours missed;
                             empty: none */
    char news[256];      /* last thing the agent told about its work; empty: nothing yet */
    uint64_t interval;   /* in force */
    uint64_t elapsed_ns; /* sampling time so far */
    uint64_t samples;    /* delivered into the profile */
    uint64_t dropped;    /* ring was full */
    uint64_t failed[WIRE_FAILURES]; /* walks that ended early, by reason */
    uint64_t agent_ns;     /* CPU time of our code in the target: handlers and the agent's thread */
    uint64_t frontend_ns;  /* CPU time of this process */
    uint64_t missed_ns;    /* time without sampling because this process was stopped */
    uint64_t recompiled;   /* methods made to recompile (session_options.precise) */
    uint64_t recompile_ns; /* time that took the VM */
    uint32_t armed_threads;
};

/* How a failure is named on screen and in files ("unknown_pc", …): index enum wire_failure. */
extern const char *const session_failure_name[WIRE_FAILURES];
/* "cpu", "wall", …: index enum wire_event; and "auto", "perf", …: index enum wire_mechanism. */
extern const char *const session_event_name[WIRE_EVENTS];
extern const char *const session_mechanism_name[WIRE_MECHANISMS];
/* "vm", "vmx", "fp", "dwarf", "no", "asgct": index enum wire_walk. */
extern const char *const session_walk_name[WIRE_WALKS];

struct session;

/* Attaches to the JVM, starts the engine and the drain thread. */
int session_attach(const struct jvm *j, const struct session_options *o, struct session **out,
                   struct err *e);

/* Same for a mapping whose agent already runs and asked for a reader (the JVM was started with
 * -agentpath): `memfd` is owned by the session from here on. */
int session_adopt(int memfd, pid_t pid, const struct session_options *o, struct session **out,
                  struct err *e);

/* Reads a recording; everything is there when it returns. A file cut short yields what is whole. */
int session_replay(const char *path, const struct session_options *o, struct session **out,
                   struct err *e);

/* The profile, locked against the drain thread. Keep it short. */
struct profile *session_lock(struct session *s);
void session_unlock(struct session *s);

/* The JVM as it was found at attach; live figures refreshed about once a second. For a recording:
 * pid, name and version as recorded. */
void session_jvm(struct session *s, struct jvm *out);
void session_status(struct session *s, struct session_status *out);

/* What the agent told about its work so far, e.g. which methods it made recompile: a line each,
 * oldest first. Returns how many more lines there were no room for. */
uint32_t session_news(struct session *s, char *out, size_t size);

/* An eventfd for a poll loop, readable when since it was read last the phase changed or the first
 * samples came. */
int session_event_fd(const struct session *s);

/* Stops the engines and reads what is left; the profile stays. Idempotent. */
int session_stop(struct session *s, struct err *e);

/* Tells an agent that waits for it (JVM started with file=) that all files are written. */
void session_reader_done(struct session *s);

/* Stops, makes the agent let go of everything, frees all. NULL is fine. */
void session_close(struct session *s);

#endif
