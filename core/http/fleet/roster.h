/*
 * The JVMs that are to be profiled: taken up as they come, let go of as they end. Some threads do
 * what may take its time (to attach, to detach), so that a JVM that hangs holds up no other.
 *
 *      wanted ─▶ being entered ─▶ held ─▶ being left ─▶ gone
 *        ▲            │             └────── or wanted again, to begin with a new profile
 *        └─ failed ◀──┘ why is said once, tried again seldom
 *
 * Context: roster_* from one thread; a held subject is that thread's until it is released.
 */
#ifndef JTOP_HTTP_FLEET_ROSTER_H
#define JTOP_HTTP_FLEET_ROSTER_H

#include "core/http/push/subject.h"

#define ROSTER_MAX FLEET_MEMBERS_MAX
#define ROSTER_THREADS 4
#define ROSTER_RETRY_MIN_S 60 /* after a failure; doubled each time up to … */
#define ROSTER_RETRY_MAX_S 900

struct roster;

struct roster_options {
    struct fleet *fleet; /* outlives the roster */
    struct fleet_want want;
    const struct jvm *only; /* this one; NULL: every JVM there is */
    uint32_t every;         /* seconds */
    const char *const *label;
    uint32_t labels;
    /* For people, from any thread; `trouble`: not merely that one came or went. */
    void (*say)(void *arg, bool trouble, const char *line);
    void *say_arg;
};

int roster_new(const struct roster_options *o, struct roster **out, struct err *e);

/* Looks for JVMs that came; wants to be called about once a second. */
void roster_look(struct roster *r);

/* The held ones, one after another: *i begins with 0. NULL: no more. */
struct subject *roster_next(struct roster *r, uint32_t *i);
/* Is done with a held one, as subject_step says: it ended; it is full, and has a new session as soon as
 * may be, which goes on where its window is; or failed, and is tried again seldom. */
void roster_release(struct roster *r, struct subject *s, enum subject_state why);

/* Whether roster_options.only is gone, or could not be entered at all (then why is in `e`). */
bool roster_over(struct roster *r, struct err *e);
/* How many are held. */
uint32_t roster_held(struct roster *r);

/* Lets go of all; may take as long as an attach that hangs. NULL is fine. */
void roster_free(struct roster *r);

#endif
