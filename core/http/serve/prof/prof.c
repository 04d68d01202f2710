/* Hadoop's profiler servlet: GET /prof takes a profile, /prof/ID returns its result. */
#include "core/http/serve/prof/prof_table.h"

#include "core/http/serve/server/route.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MS 20000 /* how long an attach may take before the browser is told to return */
#define JOIN_MS 1000   /* limit for requests that join: there may be as many as workers */
#define POLL_MS 100
#define BUSY_SECONDS 10 /* a guess: we do not control what keeps the JVM busy */
#define LISTED_MOST 20

/* ---- which JVM ---- */

static void list_jvms(struct serve_answer *a, const struct jvm *jvm, int count) {
    serve_refuse(a, 400, "pid: %d JVMs run here, choose one:\n", count);
    for (int i = 0; i < count && i < LISTED_MOST; i++)
        text_addf(&a->body, "  pid=%d  %s\n", (int)jvm[i].pid, jvm[i].name);
    if (count > LISTED_MOST)
        text_addf(&a->body, "  and %d more, see /\n", count - LISTED_MOST);
}

/* Reads the list again: a list that is a second old lacks a JVM that has just started, and its only
 * JVM could be the wrong one. */
static bool find_only(struct prof_ask *ask, struct serve_answer *a) {
    struct err e = {0};
    struct jvm *jvm = NULL;
    int count = jvm_list(&jvm, &e);
    if (count < 0)
        serve_refuse_err(a, &e);
    else if (count == 0)
        serve_refuse(a, 404, "pid: no JVM runs here that this server may inspect");
    else if (count > 1)
        list_jvms(a, jvm, count);
    else
        ask->pid = jvm[0].pid;
    free(jvm);
    return ask->pid != 0;
}

static bool find_jvm(struct serve *s, struct prof_ask *ask, struct serve_answer *a) {
    struct err e = {0};
    struct jvm jvm;
    if (!ask->pid)
        return find_only(ask, a);
    int r = fleet_jvm(s->fleet, ask->pid, &jvm, &e);
    if (r == -EINVAL || r == -ESRCH) /* no JVM, or no process */
        serve_refuse(a, 404, "pid: %.480s", e.message);
    else if (r < 0)
        serve_refuse_err(a, &e);
    return r >= 0;
}

/* ---- the answers ---- */

static void retry_after(struct serve_answer *a, uint32_t seconds) {
    char value[16];
    (void)snprintf(value, sizeof value, "%u", seconds ? seconds : 1);
    serve_header(a, "Retry-After", value);
}

static void refuse_failed(struct serve_answer *a, const struct err *e) {
    if (e->exit_code == ERR_EXIT_ARGUMENT && e->code != EBUSY)
        serve_refuse(a, 400, "%s", e->message);
    else
        serve_refuse_err(a, e);
    if (a->status == 409)
        retry_after(a, BUSY_SECONDS);
}

static void add_file_name(struct serve_answer *a, const struct prof *p, const struct exporter *x) {
    char value[256], event[64];
    size_t n = 0;
    for (const char *c = p->event; *c && n + 1 < sizeof event; c++)
        event[n++] = (char)((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') ||
                                    (*c >= 'a' && *c <= 'z') || *c == '-' || *c == '.'
                                ? *c
                                : '_');
    event[n] = '\0';
    (void)snprintf(value, sizeof value, "%s; filename=\"jtop-prof-%d-%s%s\"",
                   x->download ? "attachment" : "inline", (int)p->ask->pid, event, x->extension[0]);
    serve_header(a, "Content-Disposition", value);
}

/* Sets what is known before there is a result. */
static void add_heading(struct serve_answer *a, const struct prof *p) {
    const struct exporter *x = p->ask->exporter;
    a->type = x->type;
    a->policy = prof_format_policy(x);
    add_file_name(a, p, x);
}

static void answer_done(struct serve_answer *a, struct prof *p) {
    add_heading(a, p);
    if (p->note[0])
        serve_header(a, "X-Profile-Note", p->note);
    text_add_n(&a->body, p->result.data ? p->result.data : "", p->result.len);
    if (a->body.failed) {
        text_free(&a->body);
        serve_refuse(a, 503, "no memory for a copy of the result");
    }
}

/* Answers as the servlet does: a browser follows by itself, and a user can read the address. */
static void answer_running(struct serve_answer *a, struct prof *p, enum prof_state state,
                           uint32_t left_s) {
    char value[128];
    uint32_t delay = left_s + p->ask->refresh_delay_s;
    a->status = 202;
    (void)snprintf(value, sizeof value, "%u; url=/prof/%s", delay ? delay : 1, p->id);
    serve_header(a, "Refresh", value);
    (void)snprintf(value, sizeof value, "/prof/%s", p->id);
    serve_header(a, "Location", value);
    retry_after(a, left_s);
    text_addf(&a->body,
              "%s [%s] profiling of JVM %d. This page will automatically redirect to /prof/%s "
              "after %u seconds.\n\n"
              "Seconds left: %u\n"
              "With curl, use /prof/%s?wait: it waits and then returns the result.\n",
              state == PROF_BEGINS ? "Starting" : "Started", p->event, (int)p->ask->pid, p->id,
              delay ? delay : 1, left_s, p->id);
}

/* ---- for clients that wait: the answer begins at once, its body follows with the result ---- */

static int give_result(void *arg, struct text *out) {
    struct prof *p = arg;
    uint32_t left_s;
    switch (prof_state_of(p, &left_s)) {
    case PROF_BEGINS:
    case PROF_RUNS:
        return 0;
    case PROF_FAILED:
        /* The status was sent already: the connection can only be broken off. */
        return -EIO;
    case PROF_DONE:
        break;
    }
    text_add_n(out, p->result.data ? p->result.data : "", p->result.len);
    return 1;
}

static void stop_waiting(void *arg) {
    prof_drop(arg);
}

/* Takes over the hold of `p`. */
static void answer_later(struct serve_answer *a, struct prof *p) {
    add_heading(a, p);
    a->next = give_result;
    a->end = stop_waiting;
    a->arg = p;
    a->period_ms = POLL_MS;
}

/* Takes over the hold of `p`. */
static void answer(struct serve_answer *a, struct prof *p, bool wait) {
    uint32_t left_s;
    enum prof_state state = prof_state_of(p, &left_s);
    bool over = state == PROF_DONE || state == PROF_FAILED;
    if (wait && !over) {
        answer_later(a, p);
        return;
    }
    if (state == PROF_DONE)
        answer_done(a, p);
    else if (state == PROF_FAILED)
        refuse_failed(a, &p->error);
    else
        answer_running(a, p, state, left_s);
    prof_drop(p);
}

/* ---- the two paths ---- */

static void answer_result(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    bool wait = params_flag(q->params, "wait");
    const char *unknown = params_unused(q->params);
    bool is_id = strlen(q->rest) == PROF_ID_BYTES - 1 &&
                 strspn(q->rest, "0123456789abcdef") == PROF_ID_BYTES - 1;
    struct prof *p = is_id && !unknown ? prof_find(s->profs, q->rest) : NULL;
    if (unknown)
        serve_refuse(a, 400, "%.40s: a request for a result accepts only the parameter \"wait\"",
                     unknown);
    else if (!p)
        serve_refuse(a, 404,
                     "no such profile: results are kept for %d minutes, and only the last %d",
                     PROF_KEPT_SECONDS / 60, PROF_KEPT_MAX);
    else
        answer(a, p, wait);
}

static void take(struct serve *s, struct prof_ask *ask, struct serve_answer *a) {
    struct err e = {0};
    struct prof *p = NULL;
    bool joined = false, wait = ask->wait;
    uint32_t left_s = 0;
    int r = prof_begin(s->profs, ask, &p, &joined, &left_s, &e);
    if (r < 0) {
        serve_refuse(a, r == -EBUSY ? 409 : 503, "%s", e.message);
        retry_after(a, left_s);
        return;
    }
    prof_wait_begun(p, joined ? JOIN_MS : BEGIN_MS);
    answer(a, p, wait);
}

/* A client that only checks whether there is something (the preview of a link) begins no
 * profile. */
static void refuse_head(struct serve_answer *a) {
    serve_refuse(a, 405, "a profile is started by GET; HEAD works for /prof/ID");
    serve_header(a, "Allow", "GET");
}

void serve_prof(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    struct err e = {0};
    struct prof_ask *ask = NULL;
    if (q->rest[0]) {
        answer_result(s, q, a);
        return;
    }
    int r = prof_ask_read(q->params, &ask, &e);
    if (r < 0) {
        serve_refuse(a, r == -ENOMEM ? 503 : 400, "%s", e.message);
    } else if (q->head) {
        refuse_head(a);
        free(ask);
    } else if (find_jvm(s, ask, a)) {
        take(s, ask, a);
    } else {
        free(ask);
    }
}
