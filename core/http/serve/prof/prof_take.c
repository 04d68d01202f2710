/* Takes a profile from its beginning to its end, in its own thread. */
#include "core/http/serve/prof/prof_table.h"

#include "core/base/clock.h"
#include "core/http/serve/server/route.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NS 1000000000ull
#define LATE_NS (NS / 4) /* samples of a second may arrive this late */
#define LATE_FRUGAL_NS (3 * NS / 2)
#define RESULT_MOST (64u << 20) /* bytes */

struct taking {
    struct prof *prof;
    struct fleet_user *user;
    struct session *session;
    struct report_mark mark;
    uint64_t since; /* first second; 0: all samples */
    uint64_t from_ns, due_ns, end_ns;
    bool cut; /* it ended early; the reason is in `why` */
    char why[96];
};

/* Fails if any of the requested events cannot be sampled. */
static int check_engines(const struct taking *t, struct err *e) {
    const struct prof_ask *ask = t->prof->ask;
    struct session_status st;
    session_status(t->session, &st);
    for (uint32_t i = 0; i < ask->want.engines && st.phase == SESSION_RUNNING; i++) {
        const struct session_engine *engine = &st.engine[ask->event[i]];
        if (!engine->runs && engine->error)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "event: %.60s cannot be sampled here: %.390s",
                               ask->want.engine[i].name,
                               engine->reason[0] ? engine->reason : strerror(engine->error));
    }
    return 0;
}

/* Whether the message is about one of the events, not about the JVM. */
static bool is_about_event(const struct prof_ask *ask, const struct err *e) {
    bool there_is_none = e->code == ENOENT || e->code == ENODEV || e->code == EOPNOTSUPP;
    bool about =
        e->exit_code == ERR_EXIT_ARGUMENT || (e->exit_code == ERR_EXIT_PROFILER && there_is_none);
    for (uint32_t i = 0; i < ask->want.engines; i++)
        about = about || strstr(e->message, ask->want.engine[i].name);
    return about;
}

/* Names the URL's parameter that the error is about. */
static int name_parameter(const struct prof_ask *ask, int r, struct err *e) {
    const struct err why = *e;
    if (r == -EBUSY || r == -ESRCH || !is_about_event(ask, &why) ||
        strncmp(why.message, "event: ", 7) == 0)
        return r;
    return err_exit_as(e, ERR_EXIT_ARGUMENT, -r, "event: %.500s", why.message);
}

static int begin(struct taking *t, struct err *e) {
    struct prof *p = t->prof;
    struct serve *s = prof_table_serve(p->table);
    int r = fleet_enter(s->fleet, p->ask->pid, &p->ask->want, &t->user, e);
    if (r < 0)
        return name_parameter(p->ask, r, e);
    t->session = fleet_session(t->user);
    r = check_engines(t, e);
    if (r < 0)
        return r;
    t->since = fleet_since(t->user);
    if (t->since) {
        session_catch_up(t->session);
        report_mark(t->session, &t->mark);
    }
    t->from_ns = t->since ? t->since * NS : clock_now_ns();
    t->due_ns = t->from_ns + p->ask->duration_s * NS;
    uint64_t late = s->options && s->options->all_jvms ? LATE_FRUGAL_NS : LATE_NS;
    t->end_ns = t->due_ns + (t->since ? late : 0);
    prof_set_running(p, t->end_ns);
    return 0;
}

/* Why the profile cannot go on, or NULL. */
static const char *trouble_of(struct session *s) {
    struct session_status st;
    session_status(s, &st);
    switch (st.phase) {
    case SESSION_JVM_GONE:
        return "the JVM ended";
    case SESSION_STOPPED:
        return "another process stopped the profile";
    case SESSION_FAILED:
        return "the profiler failed";
    case SESSION_RUNNING:
    case SESSION_REPLAYED:
        break;
    }
    return NULL;
}

static void wait_for_end(struct taking *t) {
    const char *why = NULL;
    bool ends = false;
    while (!ends && !why && clock_now_ns() < t->end_ns) {
        ends = prof_sleep(t->prof, t->end_ns);
        why = trouble_of(t->session);
    }
    if (ends)
        why = "the server ended";
    if (!why)
        return;
    t->cut = true;
    (void)snprintf(t->why, sizeof t->why, "%s", why);
}

static double seconds_taken(const struct taking *t) {
    uint64_t now = clock_now_ns(), to = now < t->due_ns ? now : t->due_ns;
    return to > t->from_ns ? (double)(to - t->from_ns) / (double)NS : 0;
}

static void note(struct taking *t) {
    struct prof *p = t->prof;
    uint64_t first, last, oldest;
    profile_span(session_lock(t->session), &first, &last, &oldest);
    session_unlock(t->session);
    if (t->cut)
        (void)snprintf(p->note, sizeof p->note, "%s after %.1f s of %u s", t->why, seconds_taken(t),
                       p->ask->duration_s);
    else if (t->since && oldest > t->since)
        (void)snprintf(p->note, sizeof p->note,
                       "only the last %llu s of %u s: the history does not reach further back",
                       (unsigned long long)(last >= oldest ? last - oldest + 1 : 0),
                       p->ask->duration_s);
}

static int report(struct taking *t, struct err *e) {
    struct prof *p = t->prof;
    struct report_request q = {.exporter = p->ask->exporter,
                               .export = p->ask->export,
                               .event = p->ask->event,
                               .events = p->ask->want.engines};
    char title[512];
    prof_ask_query(p->ask, &q.query);
    if (t->since) {
        q.query.from_second = t->since;
        q.query.to_second = t->since + p->ask->duration_s - 1;
        q.since = &t->mark;
        q.elapsed_ns = (uint64_t)(seconds_taken(t) * (double)NS);
        q.elapsed_ns += q.elapsed_ns == 0;
    }
    note(t);
    if (p->note[0] && p->ask->exporter->picture) {
        (void)snprintf(title, sizeof title, "%s: %s", q.export.title ? q.export.title : p->event,
                       p->note);
        q.export.title = title;
    } else if (p->note[0] && strcmp(p->ask->exporter->name, "text") == 0) {
        text_addf(&p->result, "%s\n\n", p->note);
    }
    int r = report_format(t->session, &q, &p->result, e);
    if (r == 0 && p->result.len > RESULT_MOST) {
        text_free(&p->result);
        r = err_set(e, E2BIG,
                    "output: the result has more than %u MiB: request a shorter profile, or a "
                    "larger interval, or output=collapsed",
                    RESULT_MOST >> 20);
    }
    return r;
}

void prof_take(struct prof *p) {
    struct taking t = {.prof = p};
    int r = begin(&t, &p->error);
    if (r == 0) {
        wait_for_end(&t);
        r = report(&t, &p->error);
    }
    /* The result is there for clients that wait; leaving the JVM may take a while. */
    prof_set_over(p, r == 0 ? PROF_DONE : PROF_FAILED);
    fleet_leave(t.user);
}
