/* /api/v1/jvms/PID/findings: what stands out in a profile. */
#include "core/http/serve/api/api_findings.h"

#include "core/base/clock.h"
#include "core/http/serve/api/api.h"
#include "core/http/serve/api/api_names.h"
#include "core/http/serve/api/api_view.h"
#include "core/http/serve/api/json.h"
#include "core/profile/table/frame_name.h"
#include "core/report/findings.h"
#include "core/report/quality.h"

#include <errno.h>

/* The rows of an event; `own` false: they are the answer's. */
struct rows {
    struct snapshot *snapshot; /* NULL: there are no samples of the event */
    bool own;
};

static const struct method *method_of(const void *arg, uint32_t id) {
    return method_table_get(arg, id);
}

static const char *name_of(const void *arg, uint32_t id, char *out, size_t size) {
    return api_names_write(arg, id, out, size);
}

static void get_thread(const void *arg, uint32_t i, struct findings_thread *out) {
    const struct snapshot *s = arg;
    const struct snapshot_thread *t = &s->threads[i];
    *out = (struct findings_thread){.self = t,
                                    .name = t->name ? t->name : "",
                                    .tid = t->tid,
                                    .is_virtual = t->is_virtual,
                                    .weight = t->weight,
                                    .states = t->state};
}

static struct findings_threads threads_of(const struct snapshot *s) {
    return (struct findings_threads){s ? s->thread_count : 0, get_thread, s};
}

/* Takes the rows of an event for the same question. -ENOMEM. */
static int take_rows(struct rows *r, struct profile *p, const struct query *query, int event,
                     struct snapshot *answer) {
    *r = (struct rows){.snapshot = query->event == event ? answer : NULL};
    if (query->event == event || profile_samples(p, event) == 0)
        return 0;
    struct query other = *query;
    other.event = event;
    other.locks = false;
    *r = (struct rows){.snapshot = snapshot_take(p, &other), .own = true};
    return r->snapshot ? 0 : -ENOMEM;
}

static void free_rows(struct rows *r) {
    if (r->own)
        snapshot_free(r->snapshot);
}

/* Reads the complete seconds before the end of the window. Returns their number. */
static uint32_t take_seconds(const struct profile *p, const struct api_question *q,
                             const struct api_span *span, bool runs,
                             struct profile_second out[FINDINGS_SECONDS]) {
    uint64_t from, to;
    (void)api_question_window(q, span->latest, &from, &to);
    uint64_t end = q->to.given && to < span->latest ? to + 1 : span->latest + !runs;
    if (!span->latest || end <= span->first)
        return 0;
    from = end > span->first + FINDINGS_SECONDS ? end - FINDINGS_SECONDS : span->first;
    profile_timeline(p, q->event, from, (uint32_t)(end - from), out);
    return (uint32_t)(end - from);
}

static void write_thread(struct json *j, const struct snapshot_thread *t) {
    if (!t) {
        json_null(j, "thread");
        return;
    }
    json_begin(j, "thread", '{');
    json_string(j, "name", t->name ? t->name : "");
    json_number(j, "tid", t->tid);
    json_number(j, "javaId", t->java_id);
    json_bool(j, "virtual", t->is_virtual);
    json_end(j, '}');
}

static void write_finding(struct json *j, const struct finding *f, const struct method_table *t,
                          const struct session_status *st) {
    static const char *const view[] = {[FINDING_MORE_NONE] = NULL,
                                       [FINDING_MORE_LOCKS] = "locks",
                                       [FINDING_MORE_ALLOC] = "alloc",
                                       [FINDING_MORE_STATUS] = "status"};
    char name[API_NAMES_BYTES];
    json_begin(j, NULL, '{');
    json_string(j, "text", f->text);
    json_bool(j, "worse", f->is_worse);
    if (f->method == METHOD_NONE)
        json_null(j, "method");
    else
        json_string(j, "method", api_names_write(t, f->method, name, sizeof name));
    write_thread(j, f->thread);
    if (view[f->more])
        json_string(j, "view", view[f->more]);
    else
        json_null(j, "view");
    json_string(j, "event", quality_event_name(st, f->event));
    json_end(j, '}');
}

int api_findings_write(struct text *out, struct profile *p, const struct session_status *st,
                       const struct jvm *jvm, const struct api_question *q, uint64_t now) {
    const struct api_span span = api_view_span(p, st->phase, now);
    const struct method_table *table = profile_methods(p);
    struct query query = api_question_query(q, span.latest);
    struct rows cpu = {0}, wall = {0}, alloc = {0};
    struct profile_second second[FINDINGS_SECONDS];
    struct finding found[FINDINGS_MAX];
    struct json j = {.out = out};
    query.tree = false;
    query.locks = true;
    int r = api_view_narrow(&query, p, q);
    query.from_method = false;
    struct snapshot *answer = r == 0 ? snapshot_take(p, &query) : NULL;
    r = answer ? take_rows(&wall, p, &query, WIRE_EVENT_WALL, answer) : -ENOMEM;
    if (r == 0)
        r = take_rows(&cpu, p, &query, WIRE_EVENT_CPU, answer);
    if (r == 0)
        r = take_rows(&alloc, p, &query, WIRE_EVENT_ALLOC, answer);
    if (r == 0) {
        const struct findings_of of = {
            .event = q->event,
            .answer = answer,
            .cpu = cpu.snapshot,
            .alloc = alloc.snapshot,
            .threads = threads_of(answer),
            .sleepers = threads_of(wall.snapshot),
            .jvm = jvm,
            .status = st,
            .held = q->to.given,
            .selected = query.with_method || query.tid != QUERY_ALL_THREADS || query.virtual_id ||
                        (query.filter && query.filter[0]) || (query.package && query.package[0]),
            .second = second,
            .seconds = take_seconds(p, q, &span, st->phase == SESSION_RUNNING, second),
            .method = method_of,
            .name = name_of,
            .arg = table,
            .style = NAME_DOTTED};
        const int count = findings_list(&of, found);
        json_begin(&j, NULL, '{');
        json_string(&j, "event", quality_event_name(st, q->event));
        json_begin(&j, "findings", '[');
        for (int i = 0; i < count; i++)
            write_finding(&j, &found[i], table, st);
        json_end(&j, ']');
        json_end(&j, '}');
    }
    free_rows(&alloc);
    free_rows(&cpu);
    free_rows(&wall);
    snapshot_free(answer);
    return r < 0 || out->failed ? -ENOMEM : 0;
}

void api_findings(struct serve *s, const struct serve_request *q, pid_t pid,
                  struct serve_answer *a) {
    struct api_question question;
    struct session_status st;
    struct jvm jvm;
    struct fleet_user *user;
    if (api_enter(s, q, pid, &question, &user, a) < 0)
        return;
    struct session *session = fleet_session(user);
    session_status(session, &st);
    session_jvm(session, &jvm);
    struct profile *p = session_lock(session);
    const int r = api_findings_write(&a->body, p, &st, &jvm, &question, clock_now_ms() / 1000);
    session_unlock(session);
    fleet_leave(user);
    api_finish(a, r);
}
