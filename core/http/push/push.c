#include "core/http/push/push.h"

#include "core/base/clock.h"
#include "core/http/push/protocol/label_sources.h"
#include "core/http/push/subject.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define NS 1000000000u
#define HISTORY_WINDOWS 4                 /* windows kept: a step may be this late */
#define NODE_BYTES 512                    /* of a profile, with all that belongs to a call path */
#define MEMORY_LIMIT ((uint64_t)32 << 20) /* bytes of one JVM's profile, for a window of a minute */
#define MINUTE 60
#define MEMORY_TIMES_MAX 16
#define LATE_MS 1500     /* wait for the samples of the moment when we are told to end */
#define PATIENCE_MS 5000 /* wait for the last messages to be sent */

struct push {
    const struct push_options *o;
    struct sender *sender;
    struct fleet *fleet;
    struct roster *roster;
    struct subject_out out;
    struct jvm target;
};

static void say(void *arg, bool trouble, const char *line) {
    const struct push *p = arg;
    if (p->o->sender.say && (trouble || !p->o->quiet))
        p->o->sender.say(p->o->sender.say_arg, line);
}

static int put(void *arg, struct push_message *m) {
    struct push *p = arg;
    return sender_put(p->sender, m);
}

static void enter(void *arg, struct roster_jvm *j) {
    const struct push *p = arg;
    struct subject *s = (struct subject *)j;
    if (!s->labels.count)
        label_sources_read(&j->jvm, p->o->label, p->o->labels, &s->labels);
}

static void entered(void *arg, struct roster_jvm *j) {
    const struct push *p = arg;
    subject_begin((struct subject *)j, p->o->every_ms / 1000);
}

static struct subject *next(struct push *p, uint32_t *i) {
    return (struct subject *)roster_next(p->roster, i); /* a subject begins with it */
}

/* One second's work: new JVMs, and windows that are over. */
static void step(struct push *p) {
    uint32_t i = 0;
    roster_look(p->roster);
    for (struct subject *s; (s = next(p, &i));) {
        enum roster_end end = subject_step(s, &p->out);
        if (end == ROSTER_ANEW)
            subject_finish(s, &p->out);
        if (end != ROSTER_GOES_ON)
            roster_release(p->roster, &s->held, end);
    }
}

/* Waits until shortly after the next whole second, when windows may be due. True: told to end. */
static bool wait_second(int stop_fd) {
    struct pollfd fd = {.fd = stop_fd, .events = POLLIN};
    uint64_t ns = clock_now_ns() % NS;
    int ms = (int)((NS - ns) / 1000000) + 20;
    return poll(&fd, 1, ms) > 0;
}

static void go_on(struct push *p, int stop_fd, struct err *e) {
    do {
        step(p);
        if (roster_over(p->roster, e))
            return;
    } while (!wait_second(stop_fd));
    /* The samples of this moment arrive a little later. */
    uint64_t end_ns = clock_now_ns();
    (void)poll(NULL, 0, LATE_MS);
    uint32_t i = 0;
    for (struct subject *s; (s = next(p, &i));) {
        (void)subject_step(s, &p->out);
        subject_cut(s, &p->out, end_ns);
    }
}

static void say_begin(const struct push *p) {
    char line[512];
    snprintf(line, sizeof line, "pushing to %.200s (%s): %.200s, a profile every %u s",
             p->o->sender.to, p->out.protocol->name, p->o->all_jvms ? "every JVM" : p->target.name,
             p->o->every_ms / 1000);
    say((void *)(uintptr_t)p, false, line);
}

/* Waits some seconds until everything is sent, and reports the totals; the rest stays in the
 * spool. */
static void say_end(const struct push *p) {
    struct sender_status st;
    char line[512], more[200] = "";
    sender_status(p->sender, &st);
    for (int ms = 0; st.waiting && ms < PATIENCE_MS; ms += 50) {
        (void)poll(NULL, 0, 50);
        sender_status(p->sender, &st);
    }
    if (st.waiting)
        snprintf(more, sizeof more, ", %" PRIu64 " wait to be sent", st.waiting);
    snprintf(line, sizeof line, "%" PRIu64 " sent, %" PRIu64 " refused, %" PRIu64 " lost%s",
             st.sent, st.refused, st.lost, more);
    say((void *)(uintptr_t)p, false, line);
}

static void want_of(const struct session_options *o, struct fleet_want *w) {
    memcpy(w->engine, o->engine, sizeof w->engine);
    w->engines = o->engines;
    w->depth = o->depth;
    w->ring_bytes = o->ring_bytes;
}

/* A longer window has more seconds to keep, so its profile may use more memory. */
static uint64_t memory_limit(uint32_t every) {
    uint64_t times = every > MINUTE ? every / MINUTE : 1;
    return (times < MEMORY_TIMES_MAX ? times : MEMORY_TIMES_MAX) * MEMORY_LIMIT;
}

static int begin(struct push *p, struct err *e) {
    const struct push_options *o = p->o;
    uint32_t every = o->every_ms / 1000;
    struct fleet_options fleet = {.session = o->session};
    struct roster_options roster = {
        .arg = p, .bytes = sizeof(struct subject), .enter = enter, .entered = entered, .say = say};
    int r = o->all_jvms ? 0 : jvm_find(o->target, &p->target, e);
    if (r == 0)
        r = sender_new(&o->sender, &p->sender, e);
    fleet.session.frugal = true;
    fleet.session.history_seconds = every * HISTORY_WINDOWS + 2 * WINDOW_LATE_MAX_S;
    if (!fleet.session.memory_limit)
        fleet.session.memory_limit = memory_limit(every);
    p->out.nodes_max = (uint32_t)(fleet.session.memory_limit / NODE_BYTES);
    if (r == 0)
        r = fleet_new(&fleet, &p->fleet, e);
    roster.fleet = p->fleet;
    roster.only = o->all_jvms ? NULL : &p->target;
    want_of(&o->session, &roster.want);
    if (r == 0)
        r = roster_new(&roster, &p->roster, e);
    return r;
}

int push_run(const struct push_options *options, int stop_fd, struct err *e) {
    struct push_options o = *options;
    struct push p = {0};
    struct err ended = {0};
    if (!o.every_ms)
        o.every_ms = PUSH_EVERY_MS;
    if (!o.sender.protocol)
        o.sender.protocol = push_protocol_by_url(o.sender.to);
    if (!o.sender.protocol)
        o.sender.protocol = &push_protocols[0];
    p.o = &o;
    p.out = (struct subject_out){.protocol = o.sender.protocol, .put = put, .arg = &p};
    int r = begin(&p, e);
    if (r == 0) {
        say_begin(&p);
        go_on(&p, stop_fd, &ended);
    }
    roster_free(p.roster);
    if (p.fleet)
        fleet_free(p.fleet);
    if (r == 0)
        say_end(&p);
    sender_free(p.sender, 0);
    if (r == 0 && ended.code) {
        *e = ended;
        r = -ended.code;
    }
    return r;
}
