/* A view a second, as server-sent events. */
#include "core/serve/api.h"

#include "core/serve/api_view.h"
#include "core/serve/json.h"

#include <stdlib.h>

#define PERIOD_MS 1000

struct follower {
    struct fleet_user *user;
    struct api_question question;
    bool begun;
    enum session_phase phase; /* as told last */
    uint64_t second;
};

static void end_with(struct text *out, const char *event, const char *message) {
    struct json j = {.out = out};
    text_addf(out, "event: %s\ndata: ", event);
    json_begin(&j, NULL, '{');
    json_string(&j, "message", message);
    json_end(&j, '}');
    text_add(out, "\n\n");
}

/* Nothing comes any more, and what there was is told. */
static bool is_told(struct follower *f, struct session *s) {
    struct session_status st;
    session_status(s, &st);
    if (!f->begun || st.phase == SESSION_RUNNING || st.phase != f->phase)
        return false;
    const struct api_span span = api_view_span(session_lock(s), st.phase, 0);
    session_unlock(s);
    return span.latest == f->second;
}

static int tell_view(struct follower *f, struct session *s, struct text *out,
                     struct session_status *st) {
    struct api_view view;
    int r = api_view_take(&view, s, &f->question);
    if (r < 0)
        return r;
    f->phase = view.status.phase;
    f->second = view.span.latest;
    *st = view.status;
    text_addf(out, "event: view\nid: %llu\ndata: ", (unsigned long long)f->second);
    r = api_view_write(&view, out);
    text_add(out, "\n\n");
    api_view_free(&view);
    return r;
}

static int next(void *arg, struct text *out) {
    struct follower *f = arg;
    struct session *s = fleet_session(f->user);
    struct session_status st;
    if (is_told(f, s))
        return 0;
    if (!f->begun)
        text_add(out, "retry: 1000\n\n"); /* ms until a browser asks again */
    f->begun = true;
    if (tell_view(f, s, out, &st) < 0) {
        text_clear(out);
        end_with(out, "trouble", "there is no memory for another view");
        return 1;
    }
    if (st.phase == SESSION_JVM_GONE)
        end_with(out, "gone", st.message[0] ? st.message : "the JVM has ended");
    else if (st.phase == SESSION_FAILED)
        end_with(out, "trouble", st.message[0] ? st.message : "the profile cannot go on");
    return st.phase == SESSION_JVM_GONE || st.phase == SESSION_FAILED;
}

static void end(void *arg) {
    struct follower *f = arg;
    fleet_leave(f->user);
    free(f);
}

void serve_events(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    const char *what;
    const pid_t pid = api_pid(q, &what);
    struct follower *f = calloc(1, sizeof *f);
    if (!f) {
        serve_refuse(a, 503, "there is no memory for another stream");
        return;
    }
    if (api_enter(s, q, pid, &f->question, &f->user, a) < 0) {
        free(f);
        return;
    }
    a->type = "text/event-stream";
    a->next = next;
    a->end = end;
    a->arg = f;
    a->period_ms = PERIOD_MS;
}
