/*
 * All JVMs of the machine, or one, each with a session: entered as they start, left as they end. Some
 * threads do what may take its time (attach, detach), so that a JVM that hangs holds up no other.
 *
 *      wanted ─▶ being entered ─▶ held ─▶ being left ─▶ gone
 *        ▲            │             └────── or wanted again, to begin with a new profile
 *        └─ failed ◀──┘ why is said once, tried again seldom
 *
 * Context: roster_* from one thread; a held JVM is that thread's until it is released.
 */
#ifndef JTOP_HTTP_FLEET_ROSTER_H
#define JTOP_HTTP_FLEET_ROSTER_H

#include "core/http/fleet/fleet.h"

#define ROSTER_MAX FLEET_MEMBERS_MAX
#define ROSTER_THREADS 4
#define ROSTER_RETRY_MIN_S 60 /* after a failure; doubled each time up to … */
#define ROSTER_RETRY_MAX_S 900

struct roster;

/* One JVM. What its owner keeps of it lies behind, in the same piece of memory. */
struct roster_jvm {
    struct jvm jvm;
    struct fleet_user *user; /* NULL: it is not held */
};

/* What became of a held one. */
enum roster_end {
    ROSTER_GOES_ON,
    ROSTER_ENDED,  /* the JVM is gone */
    ROSTER_FAILED, /* the session is over, the JVM is not: it is tried again seldom */
    ROSTER_ANEW,   /* it has a new session as soon as may be */
};

struct roster_options {
    struct fleet *fleet; /* outlives the roster */
    struct fleet_want want;
    const struct jvm *only; /* this one; NULL: every JVM there is */
    void *arg;              /* of the functions below, each of which may be NULL */
    size_t bytes;           /* of what begins with a struct roster_jvm, all zeroes at first */
    /* It is about to be entered, once more perhaps; it has been. From any thread, one at a time for a
     * JVM. */
    void (*enter)(void *arg, struct roster_jvm *j);
    void (*entered)(void *arg, struct roster_jvm *j);
    /* For people, from any thread; `trouble`: not merely that one came or went. */
    void (*say)(void *arg, bool trouble, const char *line);
};

int roster_new(const struct roster_options *o, struct roster **out, struct err *e);

/* Looks for JVMs that came; wants to be called about once a second. */
void roster_look(struct roster *r);

/* The held ones, one after another: *i begins with 0. NULL: no more. */
struct roster_jvm *roster_next(struct roster *r, uint32_t *i);
/* Is done with a held one. */
void roster_release(struct roster *r, struct roster_jvm *j, enum roster_end why);

/* Whether roster_options.only is gone, or could not be entered at all (then why is in `e`). */
bool roster_over(struct roster *r, struct err *e);
/* How many are held. */
uint32_t roster_held(struct roster *r);

/* Lets go of all; may take as long as an attach that hangs. NULL is fine. */
void roster_free(struct roster *r);

#endif
