/*
 * Files:
 *   census        cheap check for new or ended processes, to know when to look for JVMs
 *   engine_union  what several users want sampled of one JVM, as one set of engines
 *   fleet         the open sessions: one for each JVM, shared by all its viewers
 *   member        one JVM with its session, its users and what they want sampled
 *   roll          list of the machine's JVMs, looked up at most once a second
 *   roster        user of every JVM: enters it when it starts, leaves it when it ends
 *
 * The JVMs of this machine, with one session for each JVM that has users. A profile requested by
 * URL, a live page in a browser and continuous profiling share that session.
 *
 *      user ─┐                     ┌▶ session (attached, or a view of another process's)
 *      user ─┼▶ fleet ─▶ member ───┤
 *      user ─┘                     └▶ …
 *
 * The first user of a JVM attaches, or joins as viewer if another jtop-prof profiles the JVM
 * already. When the last user leaves, the session is closed. In between, the engines are what all
 * users together want: the finest interval of each event. A JVM that has ended stays as long as its
 * users do.
 *
 * Context: frontend, any thread. Functions that attach or change engines may take seconds; they do
 * not delay callers that ask for another JVM. Fleet functions never hold a session's lock.
 */
#ifndef JTOP_HTTP_FLEET_FLEET_H
#define JTOP_HTTP_FLEET_FLEET_H

#include "attach/find/jvm.h"
#include "core/session/session.h"

#include <stdbool.h>
#include <stdint.h>

#define FLEET_MEMBERS_MAX 256 /* JVMs with a session at a time */
#define FLEET_USERS_MAX 64    /* users of one JVM */

struct fleet;
struct fleet_user; /* one user's hold on one JVM's session */

struct fleet_options {
    /* What each session begins with, except for its engines; strings live as long as the fleet.
     * `frugal` is for users that profile everything all day. */
    struct session_options session;
    uint32_t
        linger_ms; /* how long a session without users goes on, for a user who returns; 0: not */
};

/* What a user wants of a JVM. */
struct fleet_want {
    struct wire_engine_request
        engine[WIRE_EVENTS]; /* as event_parse returns it; no event occurs twice */
    uint32_t engines;        /* 0: CPU time at its usual interval */
    uint32_t depth;          /* only if the session begins with this user; 0: the fleet's value */
    uint64_t ring_bytes;     /* only if the session begins with this user; 0: the fleet's value */
    bool as_it_is; /* changes nothing: only a JVM that has a session can be entered, with the
                      engines it has; otherwise -ENOENT */
};

int fleet_new(const struct fleet_options *o, struct fleet **out, struct err *e);
/* Closes all sessions, in at most some seconds for all together. All users must have left, and no
 * thread may be in fleet_enter. NULL is fine. */
void fleet_free(struct fleet *f);

/* Lists the machine's JVMs as jvm_list does, reading them at most once a second; `*out` is
 * malloc'ed. */
int fleet_jvms(struct fleet *f, struct jvm **out, struct err *e);
/* Finds one of them by its pid. -ESRCH. */
int fleet_jvm(struct fleet *f, pid_t pid, struct jvm *out, struct err *e);

/* Becomes a user. 0, or -errno with a message. The errors are those of session_attach (also if
 * other users' engines work, but none of this user's does), and: -EUSERS: too many JVMs or users;
 * -EAGAIN: the JVM answers slowly, and many wait for it already; -EBUSY: another process profiles
 * the JVM and does not share its profile, or another user wants another event of the same kind
 * ("cache-misses" excludes "page-faults"); -ESRCH: there is no such JVM, or it has ended (its profile can then be entered
 * only with `as_it_is`). After a failure nothing is tried again for a second. */
int fleet_enter(struct fleet *f, pid_t pid, const struct fleet_want *want, struct fleet_user **out,
                struct err *e);
/* Changes the engines that this user wants (those of other users stay). As session_set_engines. */
int fleet_rewant(struct fleet_user *u, const struct fleet_want *want, struct err *e);
/* Stops being a user. NULL is fine. If other users stay, the engines that only this user wanted
 * stop; that may take seconds. The session of the last user is closed by a thread of the fleet. */
void fleet_leave(struct fleet_user *u);

/* Valid until the user leaves. */
struct session *fleet_session(const struct fleet_user *u);
/* Whether the session is a view of another process's profile (which we cannot restart). */
bool fleet_looks_on(const struct fleet_user *u);
/* The first whole second (of the samples' clock) after this user came in which everything it wants
 * was sampled; a query from then on is the user's own profile. 0: from the very first sample on,
 * because the session began with this user, or because the user takes it as it is. */
uint64_t fleet_since(const struct fleet_user *u);
/* How many users the JVM has at this moment, this one included. */
uint32_t fleet_users(const struct fleet_user *u);

/* Lists the JVMs that have a session now, sorted; returns how many, at most `max`. */
uint32_t fleet_held(struct fleet *f, pid_t *out, uint32_t max);

#endif
