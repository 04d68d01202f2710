/*
 * One JVM that has users: its session, its users, and what they want together.
 *
 * There are two locks. `busy` is held by a thread that attaches, changes engines or closes, for
 * seconds if need be. The fleet's lock is held for a few instructions only; with it, every other
 * thread can read the state. A thread that takes both takes `busy` first.
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
    struct engine_union want; /* empty: takes the session as it is */
    uint64_t since;           /* protected by the fleet's lock */
};

struct member {
    pid_t pid;
    const struct fleet_options *options;
    pthread_mutex_t *lock; /* the fleet's */
    pthread_mutex_t busy;
    /* protected by the fleet's lock; changing the first three also needs `busy` */
    struct session *session; /* NULL: none (yet) */
    struct fleet_user *user[FLEET_USERS_MAX];
    uint32_t users;
    uint32_t holds;     /* threads that work with it: it is not freed meanwhile */
    bool retired;       /* its JVM has ended, or it cannot go on: new users get another member */
    uint64_t idle_ns;   /* CLOCK_MONOTONIC: when its last user left */
    uint64_t failed_ns; /* CLOCK_MONOTONIC: when attaching failed; 0: it worked, or was not tried */
    /* protected by `busy` */
    uint64_t start_ticks; /* of the JVM; 0: never found */
    bool joined;          /* it views another process's session, or did so when we last checked */
    struct engine_union ours;        /* what we asked for last */
    struct engine_union before;      /* what others had asked for without us */
    struct engine_union failed_want; /* what was requested when attaching failed */
    struct err failure;              /* why attaching failed */
};

struct member *member_new(pid_t pid, const struct fleet_options *o, pthread_mutex_t *lock);
void member_free(struct member *m); /* it must have no session and no users */

/* Makes `u` one of its users: begins the session, or makes it sample what `u` wants as well. Called
 * with `busy`. As fleet_enter; -ESTALE: the member is retired, use another one. */
int member_enter(struct member *m, struct fleet_user *u, const struct fleet_want *want,
                 struct err *e);
/* Changes what a user wants. Called with `busy`. As fleet_rewant. */
int member_rewant(struct member *m, struct fleet_user *u, const struct engine_union *want,
                  struct err *e);
/* Removes the user `u`; the others keep what they want. Called with `busy`. */
void member_leave(struct member *m, const struct fleet_user *u);

/* Ends the session, which has no users. Called with `busy`. */
void member_close(struct member *m);

/* Whether attaching failed so recently that it is not tried again. Called with the fleet's lock or
 * `busy`. */
bool member_remembers(const struct member *m, uint64_t now_ns);

#endif
