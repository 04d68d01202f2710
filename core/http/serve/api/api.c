#include "core/http/serve/api/api.h"

#include "core/base/clock.h"
#include "core/http/serve/api/api_feeds.h"
#include "core/http/serve/api/api_findings.h"
#include "core/http/serve/api/api_jvms.h"
#include "core/http/serve/api/api_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char jvms_below[] = "jvms/";

/* The JVM of a path below "jvms/"; *what is what follows it: "view", "" …; 0: there is no
 * number. */
static pid_t api_pid(const struct serve_request *q, const char **what) {
    const size_t length = sizeof jvms_below - 1;
    return strncmp(q->rest, jvms_below, length) == 0 ? serve_pid(q->rest + length, what) : 0;
}

/* Reads all parameters as those of a view. -EINVAL with a message for a 400. A handler must read
 * its other parameters before. */
static int api_ask(const struct serve_request *q, struct api_question *out, struct err *e) {
    int r = api_question_read(out, q->params, e);
    return r < 0 ? r : api_question_rest(q->params, e);
}

int api_enter(struct serve *s, const struct serve_request *q, pid_t pid, struct api_question *out,
              struct fleet_user **user, struct serve_answer *a) {
    struct err e = {0};
    int r = api_ask(q, out, &e);
    if (r == 0)
        r = fleet_enter(s->fleet, pid, &out->want, user, &e);
    if (r < 0)
        serve_refuse_err(a, &e);
    return r;
}

void api_finish(struct serve_answer *a, int result) {
    if (result < 0 || a->body.failed) {
        serve_refuse(a, 503, "no memory for the answer: request less with nodes= and rows=");
        return;
    }
    text_add(&a->body, "\n");
    a->type = "application/json";
}

static bool no_parameters(const struct serve_request *q, struct serve_answer *a) {
    struct err e = {0};
    if (api_question_rest(q->params, &e) == 0)
        return true;
    serve_refuse_err(a, &e);
    return false;
}

/* /api/v1/jvms */

static int by_pid(const void *a, const void *b) {
    pid_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static void list_one(struct json *j, const struct jvm *jvm, bool held) {
    json_begin(j, NULL, '{');
    api_jvms_members(j, jvm);
    json_bool(j, "held", held);
    json_number(j, "reader", jvm->closed ? 0 : (uint64_t)api_jvms_reader(jvm->pid));
    json_bool(j, "closed", jvm->closed);
    json_end(j, '}');
}

static const struct jvm *find_jvm(const struct jvm *jvms, int count, pid_t pid) {
    for (int i = 0; i < count; i++)
        if (jvms[i].pid == pid)
            return &jvms[i];
    return NULL;
}

/* The fleet knows the JVMs that may be profiled, and what they use now. The list also has the JVMs
 * that may not be profiled. */
static void list_jvms(struct serve *s, struct serve_answer *a) {
    struct err e = {0};
    struct jvm *jvms = NULL, *all = NULL;
    pid_t held[FLEET_MEMBERS_MAX];
    struct json j = {.out = &a->body};
    const int count = fleet_jvms(s->fleet, &jvms, &e);
    const int there = count < 0 ? count : jvm_list_all(&all, &e);
    if (there < 0) {
        free(jvms);
        serve_refuse_err(a, &e);
        return;
    }
    const uint32_t sessions = fleet_held(s->fleet, held, FLEET_MEMBERS_MAX);
    json_begin(&j, NULL, '[');
    for (int i = 0; i < there; i++) {
        const struct jvm *known = find_jvm(jvms, count, all[i].pid);
        list_one(&j, known ? known : &all[i],
                 bsearch(&all[i].pid, held, sessions, sizeof *held, by_pid));
    }
    json_end(&j, ']');
    free(jvms);
    free(all);
    api_finish(a, 0);
}

/* /api/v1/jvms/PID */

static void show_jvm(struct serve *s, pid_t pid, struct serve_answer *a) {
    struct err e = {0};
    struct jvm jvm;
    struct session_status st;
    struct fleet_user *user = NULL;
    struct json j = {.out = &a->body};
    const int r = fleet_enter(s->fleet, pid, &(struct fleet_want){.as_it_is = true}, &user, &e);
    if (r < 0 && fleet_jvm(s->fleet, pid, &jvm, &e) < 0) {
        serve_refuse_err(a, &e);
        return;
    }
    if (user) {
        session_jvm(fleet_session(user), &jvm);
        session_status(fleet_session(user), &st);
        fleet_leave(user);
    }
    json_begin(&j, NULL, '{');
    api_jvms_write(&j, &jvm);
    if (user) {
        api_jvms_status(&j, &st);
        api_jvms_events(&j, &st);
    } else {
        json_null(&j, "status");
        json_begin(&j, "events", '[');
        json_end(&j, ']');
    }
    json_end(&j, '}');
    api_finish(a, 0);
}

/* /api/v1/jvms/PID/view */

static void show_view(struct serve *s, const struct serve_request *q, pid_t pid,
                      struct serve_answer *a) {
    struct api_question question;
    struct api_view view;
    struct fleet_user *user = NULL;
    if (api_enter(s, q, pid, &question, &user, a) < 0)
        return;
    int r = api_view_take(&view, fleet_session(user), &question);
    if (r == 0) {
        r = api_view_write(&view, &a->body);
        api_view_free(&view);
    }
    fleet_leave(user);
    api_finish(a, r);
}

/* /api/v1/status */

/* The number of users that share its session, without this request. */
static uint32_t users_of(struct serve *s, pid_t pid) {
    struct err e;
    struct fleet_user *user = NULL;
    if (fleet_enter(s->fleet, pid, &(struct fleet_want){.as_it_is = true}, &user, &e) < 0)
        return 0;
    const uint32_t users = fleet_users(user);
    fleet_leave(user);
    return users > 0 ? users - 1 : 0;
}

static void show_status(struct serve *s, struct serve_answer *a) {
    struct err e = {0};
    struct jvm *jvms = NULL;
    pid_t held[FLEET_MEMBERS_MAX];
    struct json j = {.out = &a->body};
    const int count = fleet_jvms(s->fleet, &jvms, &e);
    const uint32_t sessions = fleet_held(s->fleet, held, FLEET_MEMBERS_MAX);
    uint64_t clients = 0;
    free(jvms);
    for (uint32_t i = 0; i < sessions; i++)
        clients += users_of(s, held[i]);
    json_begin(&j, NULL, '{');
    json_string(&j, "version", JTOP_VERSION);
    json_number(&j, "uptimeMs", (clock_now_ns() - s->begun_ns) / 1000000);
    json_number(&j, "jvms", count > 0 ? (uint64_t)count : 0);
    json_number(&j, "sessions", sessions);
    json_number(&j, "clients", clients);
    json_end(&j, '}');
    api_finish(a, 0);
}

void serve_api(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    const char *what = "";
    const pid_t pid = api_pid(q, &what);
    if (pid > 0 && strcmp(what, "view") == 0)
        show_view(s, q, pid, a);
    else if (pid > 0 && strcmp(what, "lines") == 0)
        api_lines(s, q, pid, a);
    else if (pid > 0 && strcmp(what, "findings") == 0)
        api_findings(s, q, pid, a);
    else if (pid > 0 && strcmp(what, "events") == 0)
        serve_events(s, q, a);
    else if (pid > 0 && !*what && no_parameters(q, a))
        show_jvm(s, pid, a);
    else if (strcmp(q->rest, "jvms") == 0 && no_parameters(q, a))
        list_jvms(s, a);
    else if (strcmp(q->rest, "status") == 0 && no_parameters(q, a))
        show_status(s, a);
    else if (!a->status)
        serve_refuse(a, 404,
                     "there are /api/v1/jvms, /api/v1/status, and for each JVM /api/v1/jvms/PID, "
                     "with /view, /events, /lines and /findings");
}

/* One view per second, as server-sent events. */

#define PERIOD_MS 1000

struct follower {
    struct api_feed *feed;
    struct api_told told;
};

static int next(void *arg, struct text *out) {
    struct follower *f = arg;
    return api_feed_tell(f->feed, &f->told, out);
}

static void end(void *arg) {
    struct follower *f = arg;
    api_feed_leave(f->feed);
    free(f);
}

void serve_events(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    const char *what;
    struct err e = {0};
    struct api_question question;
    struct follower *f = calloc(1, sizeof *f);
    if (!f) {
        serve_refuse(a, 503, "there is no memory for another stream");
        return;
    }
    int r = api_ask(q, &question, &e);
    if (r == 0)
        r = api_feed_join(s->feeds, s->fleet, api_pid(q, &what), &question, &f->feed, &e);
    if (r < 0) {
        serve_refuse_err(a, &e);
        free(f);
        return;
    }
    a->type = "text/event-stream";
    a->next = next;
    a->end = end;
    a->arg = f;
    a->period_ms = PERIOD_MS;
}
