/*
 * Keeps a session for all JVMs of the machine, or for one: it enters a JVM as it starts, and leaves
 * it as it ends. Several threads do what may take time (attach, detach), so that a JVM that hangs
 * delays no other.
 *
 *      wanted ─▶ being entered ─▶ held ─▶ being left ─▶ gone
 *        ▲            │             └────── or wanted again, with a new profile
 *        └─ failed ◀──┘ the reason is reported once; it is retried rarely
 *
 * Context: roster_* are called from one thread; a held JVM belongs to that thread until it is
 * released.
 */
#ifndef JTOP_HTTP_FLEET_ROSTER_H
#define JTOP_HTTP_FLEET_ROSTER_H

#include "core/http/fleet/fleet.h"

#define ROSTER_MAX FLEET_MEMBERS_MAX
#define ROSTER_THREADS 4
#define ROSTER_RETRY_MIN_S 60 /* after a failure; doubled each time, up to ROSTER_RETRY_MAX_S */
#define ROSTER_RETRY_MAX_S 900

struct roster;

/* One JVM. Its owner's data follows in the same piece of memory. */
struct roster_jvm {
    struct jvm jvm;
    struct fleet_user *user; /* NULL: the JVM is not held */
};

/* Why a held JVM is released. */
enum roster_end {
    ROSTER_GOES_ON,
    ROSTER_ENDED,  /* the JVM has ended */
    ROSTER_FAILED, /* the session is over, but the JVM is not: it is retried rarely */
    ROSTER_ANEW,   /* it gets a new session as soon as possible */
};

struct roster_options {
    struct fleet *fleet; /* must outlive the roster */
    struct fleet_want want;
    const struct jvm *only; /* only this JVM; NULL: every JVM */
    void *arg;              /* for the functions below; each of them may be NULL */
    size_t bytes;           /* of a struct that begins with roster_jvm; zero at first */
    /* Called before a JVM is entered (also before each retry), and after it has been entered. From
     * any thread, one at a time for a JVM. */
    void (*enter)(void *arg, struct roster_jvm *j);
    void (*entered)(void *arg, struct roster_jvm *j);
    /* Reports a line to the user, from any thread; `trouble`: more than that a JVM came or went. */
    void (*say)(void *arg, bool trouble, const char *line);
};

int roster_new(const struct roster_options *o, struct roster **out, struct err *e);

/* Searches for new JVMs; to be called about once a second. */
void roster_look(struct roster *r);

/* Returns the held JVMs, one after another: *i begins with 0. NULL: no more. */
struct roster_jvm *roster_next(struct roster *r, uint32_t *i);
/* Releases a held JVM. */
void roster_release(struct roster *r, struct roster_jvm *j, enum roster_end why);

/* Whether roster_options.only has ended, or could not be entered at all (then `e` has the
 * reason). */
bool roster_over(struct roster *r, struct err *e);
/* How many JVMs are held. */
uint32_t roster_held(struct roster *r);

/* Releases all JVMs; may take as long as an attach that hangs. NULL is fine. */
void roster_free(struct roster *r);

#endif
