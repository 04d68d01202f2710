/* When the other process has ended, a viewer continues: with the process that reads the JVM then, or
 * alone. */
#include "core/session/share/join.h"

#include "core/base/clock.h"
#include "core/session/agent_link.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRIES 12
#define STEP_NS 250000000L

static bool must_end(struct session *s) {
    session_lock(s);
    bool end = s->quit || (s->wanted == WIRE_COMMAND_DETACH && !s->done);
    session_unlock(s);
    return end;
}

/* Takes over the other process's counters, so that nothing is counted twice. */
static void take_over_counts(struct session *s, const struct share_status *t) {
    struct drain *d = &s->drain;
    struct agent_report *b = &d->before;
    *b = (struct agent_report){.dropped = t->status.dropped,
                               .agent_ns = t->status.agent_ns,
                               .recompiled = t->status.recompiled,
                               .recompile_ns = t->status.recompile_ns,
                               .windows = t->status.windows};
    memcpy(b->failed, t->status.failed, sizeof b->failed);
    for (uint32_t i = 0; i < WIRE_EVENTS; i++)
        d->dropped[i] = (struct restarting){.before = t->status.engine[i].dropped};
}

#define ASK_AGAIN_NS UINT64_C(10000000000) /* for viewers to join us, and to ask for their events */

/* All engines go on. A profile apart has only its own events. The other process's own events may be
 * those of screens that view it, so they are kept; those that it had lent, their users ask for
 * again. The lock is held. */
static void take_over_engines(struct session *s, const struct share_status *t) {
    struct session_options *o = &s->options;
    struct wire_engine_request lent[WIRE_EVENTS], kept[WIRE_EVENTS];
    uint32_t loans = 0, keeps = 0;
    uint64_t until_ns = clock_now_ns() + ASK_AGAIN_NS;
    o->engines = o->apart ? o->engines : 0;
    for (uint32_t i = 0; i < t->engines; i++) {
        uint32_t event = 1u << t->engine[i].event;
        if (o->apart && s->drain.decoder->only & event)
            continue;
        if (t->lent & event)
            lent[loans++] = t->engine[i];
        else if (o->apart)
            kept[keeps++] = t->engine[i];
        else
            o->engine[o->engines++] = t->engine[i];
    }
    lent_inherit(&s->lent, lent, loans, until_ns);
    lent_inherit(&s->lent, kept, keeps, 0);
    s->kept_until_ns = keeps ? until_ns : 0;
}

static void take_over_options(struct session *s, const struct share_status *t) {
    session_lock(s);
    struct session_options *o = &s->options;
    take_over_engines(s, t);
    o->walk = t->walk;
    o->depth = t->depth;
    o->cut = t->cut;
    o->features = t->features;
    o->signal = t->signal;
    o->wall_signal = t->wall_signal;
    o->precise = t->precise;
    o->all_or_none = false;
    s->status.reader = 0;
    s->joined = false;
    bool share = s->share_later && !s->quit && !(s->wanted == WIRE_COMMAND_DETACH && !s->done);
    s->share_later = false;
    session_unlock(s);
    if (share)
        share_begin(s, -1, s->share_handler, s->share_arg, NULL);
}

static void become_owner(struct session *s, const struct agent_link *link,
                         const struct share_status *t) {
    struct drain *d = &s->drain;
    take_over_counts(s, t);
    session_lock(s);
    decoder_new_stream(d->decoder);
    d->decoder->replay = false;
    d->decoder->policy = drain_policy;
    d->decoder->policy_arg = s;
    d->decoder->since_ns = clock_now_ns();
    session_unlock(s);
    drain_use_mapping(s, link->mapping);
    (void)drain_use_broker(s, link->broker, NULL);
    take_over_options(s, t);
    d->started = true;
    drain_ask_start(s);
}

/* The agent was loaded too late: detaches it. */
static int let_go(struct agent_link *link, struct err *e) {
    struct control c;
    control_init(&c, link->mapping.wire);
    control_request(&c, WIRE_COMMAND_DETACH, NULL);
    mapping_close(&link->mapping);
    if (link->broker >= 0)
        close(link->broker);
    return err_set(e, ECANCELED, "the session is being closed");
}

/* Tries to join another process. Another viewer may have taken over the JVM first. Or it is still
 * the old process, which did not wait for us or is ending step by step: then there will be
 * another try. */
static bool look_on(struct session *s, struct join *j, pid_t before, struct err *e) {
    if (join_connect(j, &s->jvm, false, e) != 0)
        return false;
    if (j->last.restricted && j->reader != before) {
        close(j->fd);
        j->fd = -1;
        return false;
    }
    j->tries++;
    session_lock(s);
    decoder_new_stream(s->drain.decoder); /* the new stream has its own ids */
    session_unlock(s);
    return true;
}

/* A profile apart takes the JVM only if no other viewer does: a screen stays when the profile
 * ends. */
static bool waits_for_others(const struct session *s, const struct join *j) {
    return s->options.apart && j->last.viewers > 1 && j->tries < TRIES / 4;
}

int join_succeed(struct session *s, struct join *j, struct err *e) {
    int result = -ESRCH;
    pid_t before = j->reader;
    if (j->tries > 0) /* not too soon after the last one */
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    else
        err_set(e, ESRCH, "JVM %d is not profiled by any process", (int)s->jvm.pid);
    for (; j->tries < TRIES && !must_end(s); j->tries++) {
        struct agent_link link;
        bool offer = false;
        if (look_on(s, j, before, e))
            return 0;
        if (waits_for_others(s, j)) {
            nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
            continue;
        }
        if (j->last.restricted)
            return err_set(
                e, ENOTSUP,
                "the profile that was joined is of some threads or times only (--filter, --begin, "
                "--from, ...); open the JVM again to sample everything");
        if (!s->library[0])
            return err_set(e, ENOENT, "there is no agent library to attach with");
        result = drain_offer_broker(s, &offer, e);
        if (result == 0)
            result = agent_link_open(&s->jvm, s->library, s->options.library != NULL, offer,
                                     s->options.ring_bytes, SESSION_DETACH_MS, &link, e);
        if (result == 0 && must_end(s))
            return let_go(&link, e);
        if (result == 0) {
            become_owner(s, &link, &j->last);
            return 1;
        }
        if (result != -EBUSY && result != -ETIMEDOUT)
            return result;
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    }
    return result;
}
