/* /metrics: the metrics of every JVM that has a session. A scrape attaches to no JVM. */
#include "core/http/serve/api/api.h"

#include "attach/proc/proc.h"
#include "core/base/clock.h"
#include "core/http/serve/api/api_view.h"
#include "core/report/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The data of one JVM. */
struct scraped {
    struct session_status status;
    struct jvm jvm;
    struct metrics_top top;
};

static void scrape(struct scraped *out, struct session *s) {
    session_status(s, &out->status);
    session_jvm(s, &out->jvm);
    struct profile *p = session_lock(s);
    const struct api_span span = api_view_span(p, out->status.phase, clock_now_ms() / 1000);
    metrics_take_top(&out->top, p, &out->status, span.latest); /* no memory: these are missing */
    session_unlock(s);
}

/* JVMs that have ended since are left out. */
static uint32_t scrape_all(struct serve *s, struct scraped *out) {
    pid_t held[FLEET_MEMBERS_MAX];
    const uint32_t sessions = fleet_held(s->fleet, held, FLEET_MEMBERS_MAX);
    uint32_t count = 0;
    for (uint32_t i = 0; i < sessions; i++) {
        struct err e;
        struct fleet_user *user;
        const struct fleet_want want = {.as_it_is = true};
        if (fleet_enter(s->fleet, held[i], &want, &user, &e) < 0)
            continue;
        scrape(&out[count++], fleet_session(user));
        fleet_leave(user);
    }
    return count;
}

void serve_metrics(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    struct err e = {0};
    if (api_question_rest(q->params, &e) < 0) {
        serve_refuse_err(a, &e);
        return;
    }
    struct scraped *one = calloc(FLEET_MEMBERS_MAX, sizeof *one);
    struct metrics_jvm *jvm = calloc(FLEET_MEMBERS_MAX, sizeof *jvm);
    const uint32_t count = one && jvm ? scrape_all(s, one) : 0;
    for (uint32_t i = 0; i < count; i++)
        jvm[i] = (struct metrics_jvm){&one[i].status, &one[i].jvm, &one[i].top};
    if (one && jvm)
        metrics_write_all(&a->body, jvm, count, proc_rss_bytes(getpid()),
                          clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    if (!one || !jvm || a->body.failed)
        serve_refuse(a, 503, "there is no memory for the answer");
    else
        a->type = "text/plain; version=0.0.4; charset=utf-8";
    free(one);
    free(jvm);
}
