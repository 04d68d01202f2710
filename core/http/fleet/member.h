/*
 * One JVM that somebody wants to know of: its session, who uses it, and what they want together.
 *
 * Two locks: `busy` is held by whoever attaches, changes engines or closes, for seconds if need be;
 * the fleet's own is held for a few instructions, and tells everybody else how things are. Whoever
 * takes both takes `busy` first.
 *
 * Context: as the comments say.
 */
#ifndef JTOP_HTTP_FLEET_MEMBER_H
#define JTOP_HTTP_FLEET_MEMBER_H

#include "core/http/fleet/engine_union.h"
#include "core/http/fleet/fleet.h"

#include <pthread.h>

struct fleet_user {
    struct fleet *fleet;
    struct member *member;
    struct engine_union want; /* nothing: takes it as it is */
    uint64_t since;           /* under the fleet's lock */
};

struct member {
    pid_t pid;
    const struct fleet_options *options;
    pthread_mutex_t *lock; /* the fleet's */
    pthread_mutex_t busy;
    /* under the fleet's lock; the first three are changed by who holds `busy` as well */
    struct session *session; /* NULL: none (yet) */
    struct fleet_user *user[FLEET_USERS_MAX];
    uint32_t users;
    uint32_t holds;     /* threads that do something with it: it is not freed */
    bool retired;       /* its JVM is gone, or it cannot go on: who comes now gets another one */
    uint64_t idle_ns;   /* CLOCK_MONOTONIC: when its last user left */
    uint64_t failed_ns; /* and when it could not be attached to; 0: it could, or was not tried */
    /* under `busy` */
    uint64_t start_ticks; /* of the JVM; 0: never found */
    bool joined;          /* it looks on at another process's session, or did when we asked last */
    struct engine_union ours;        /* what we asked for last; … */
    struct engine_union before;      /* … and what others had asked for without us */
    struct engine_union failed_want; /* what was asked for then, … */
    struct err failure;              /* … and what became of it */
};

struct member *member_new(pid_t pid, const struct fleet_options *o, pthread_mutex_t *lock);
void member_free(struct member *m); /* without session and users */

/* Makes `u` one of its users: begins the session, or has it sample what `u` wants as well. With
 * `busy`. As fleet_enter; -ESTALE: it is retired, ask for another one. */
int member_enter(struct member *m, struct fleet_user *u, const struct fleet_want *want,
                 struct err *e);
/* A user wants something else. With `busy`. As fleet_rewant. */
int member_rewant(struct member *m, struct fleet_user *u, const struct engine_union *want,
                  struct err *e);
/* `u` is its user no more; the others keep what they want. With `busy`. */
void member_leave(struct member *m, const struct fleet_user *u);

/* Ends the session, which nobody uses. With `busy`. */
void member_close(struct member *m);

/* It failed so short a time ago that it is not tried again. With the fleet's lock or `busy`. */
bool member_remembers(const struct member *m, uint64_t now_ns);

#endif
