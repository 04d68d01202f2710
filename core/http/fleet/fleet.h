/*
 * Files:
 *   census        cheap check for new or ended processes, to know when to look for JVMs
 *   engine_union  what several users want sampled of one JVM, as one set of engines
 *   fleet         the open sessions: one for each JVM, shared by all who look at it
 *   member        one JVM with its session, its users and what they want sampled
 *   roll          list of the machine's JVMs, looked up at most once a second
 *   roster        keeper of every JVM of the machine: entered at start, left at end
 *
 * The JVMs of this machine, and one session for each of those that somebody wants to know of: a
 * profile asked for by URL, a live page in a browser and continuous profiling share it.
 *
 *      user ─┐                     ┌▶ session (attached, or looking on at another process's)
 *      user ─┼▶ fleet ─▶ member ───┤
 *      user ─┘                     └▶ …
 *
 * The first user of a JVM attaches, or looks on where another jtop-prof profiles it already; the
 * last one to leave lets go of it. In between the engines are what all users together want: the
 * finest interval of each event. A JVM that ended stays as long as its users do.
 *
 * Context: frontend, any thread. Whatever attaches or changes engines may take seconds, and does not
 * hold up who asks for another JVM. Fleet functions never hold a session's lock.
 */
#ifndef JTOP_HTTP_FLEET_FLEET_H
#define JTOP_HTTP_FLEET_FLEET_H

#include "attach/find/jvm.h"
#include "core/session/session.h"

#include <stdbool.h>
#include <stdint.h>

#define FLEET_MEMBERS_MAX 256 /* JVMs with a session at a time */
#define FLEET_USERS_MAX 64    /* of one JVM */

struct fleet;
struct fleet_user; /* somebody's hold on one JVM's session */

struct fleet_options {
    /* What each session begins with but for its engines; strings live as long as the fleet.
     * `frugal` is for who profiles everything all day. */
    struct session_options session;
    uint32_t
        linger_ms; /* a session without users goes on so long: for who comes back. 0: it does not */
};

/* What a user wants of a JVM. */
struct fleet_want {
    struct wire_engine_request
        engine[WIRE_EVENTS]; /* as event_parse makes it; no two of one event */
    uint32_t engines;        /* 0: CPU time at its usual interval */
    uint32_t depth;          /* these two only where the session begins with this user; … */
    uint64_t ring_bytes;     /* … 0: as the fleet's options say */
    bool as_it_is; /* changes nothing: only who finds a session there gets one, with what engines it
                      has; -ENOENT else */
};

int fleet_new(const struct fleet_options *o, struct fleet **out, struct err *e);
/* Lets go of every JVM, at most some seconds for all together. All users must have left, and nobody
 * may be on the way in. NULL is fine. */
void fleet_free(struct fleet *f);

/* The JVMs there are, as jvm_list, looked up at most once a second; `*out` is malloc'ed. */
int fleet_jvms(struct fleet *f, struct jvm **out, struct err *e);
/* One of them, by its number. -ESRCH. */
int fleet_jvm(struct fleet *f, pid_t pid, struct jvm *out, struct err *e);

/* Becomes a user. 0, or -errno with a message: as session_attach (also where others have what they
 * want and this user would have none of it); -EUSERS: too many JVMs or users; -EAGAIN: many wait
 * for that JVM already, which answers slowly; -EBUSY: another process reads the JVM and does not
 * share it, or samples another event of the same kind ("cache-misses" and "page-faults"); -ESRCH:
 * there is no such JVM, or it has ended, and who wants its profile has to ask for it as it is. What
 * failed is not tried again for a second. */
int fleet_enter(struct fleet *f, pid_t pid, const struct fleet_want *want, struct fleet_user **out,
                struct err *e);
/* Wants other engines from now on (those of another user stay). As session_set_engines. */
int fleet_rewant(struct fleet_user *u, const struct fleet_want *want, struct err *e);
/* Is a user no more. NULL is fine. What its engines cost ends with it, where others stay; may take
 * seconds then. The last one's session is let go of by a thread of the fleet's. */
void fleet_leave(struct fleet_user *u);

/* Valid until it leaves. */
struct session *fleet_session(const struct fleet_user *u);
/* Other processes' profile, which we look on at (and cannot begin anew). */
bool fleet_looks_on(const struct fleet_user *u);
/* The first whole second (of the samples' clock) after this user came in which everything it wants
 * was sampled; a query from there on is the user's own profile. 0: from the very first sample on, the
 * session began with this user, or it takes it as it is. */
uint64_t fleet_since(const struct fleet_user *u);
/* How many users the JVM has at this moment, this one included. */
uint32_t fleet_users(const struct fleet_user *u);

/* The JVMs that have a session now, sorted; returns how many, at most `max`. */
uint32_t fleet_held(struct fleet *f, pid_t *out, uint32_t max);

#endif
