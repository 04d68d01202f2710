#include "core/http/serve/api/api_view.h"

#include "core/base/clock.h"
#include "core/http/serve/api/api_jvms.h"
#include "core/http/serve/api/api_tree.h"
#include "core/profile/snapshot/diff.h"
#include "core/report/quality.h"
#include "core/wire/wire_names.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define SECOND_NS 1000000000
#define MS_NS 1000000
#define TIMELINE_SECONDS 600
/* Small trees are sent whole. In large ones nobody can see a hundredth of a percent; leaving that
 * out makes them cheap. */
#define PRUNE_FROM_NODES 50000
#define PRUNE_PPM 100

/* Taking. */

struct api_span api_view_span(const struct profile *p, enum session_phase phase, uint64_t now) {
    struct api_span span;
    profile_span(p, &span.first, &span.latest, &span.oldest);
    /* The current second is not complete yet. */
    if (span.latest && phase == SESSION_RUNNING && now > span.latest + 1)
        span.latest = now - 1;
    return span;
}

static int take_timeline(struct api_view *v, struct profile *p) {
    const uint64_t to = v->span.latest;
    uint64_t from = to >= TIMELINE_SECONDS ? to - TIMELINE_SECONDS + 1 : 0;
    from = from > v->span.first ? from : v->span.first;
    v->timeline_from = from;
    v->timeline_seconds = to ? (uint32_t)(to - from + 1) : 0;
    v->timeline = calloc((size_t)v->timeline_seconds + 1, sizeof *v->timeline);
    if (!v->timeline)
        return -ENOMEM;
    profile_timeline(p, v->question->event, from, v->timeline_seconds, v->timeline);
    return 0;
}

/* Sets the query's method to the heaviest one of these. */
static int choose_method(struct query *query, struct profile *p, const uint32_t *id,
                         uint32_t count) {
    struct query rows = *query;
    uint64_t most = 0;
    rows.tree = rows.lines = false;
    struct snapshot *s = snapshot_take(p, &rows);
    for (uint32_t i = 0; s && i < s->method_count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (s->methods[i].method == id[k] && s->methods[i].total > most) {
                most = s->methods[i].total;
                query->method = id[k];
            }
    const int r = s ? 0 : -ENOMEM;
    snapshot_free(s);
    return r;
}

int api_view_narrow(struct query *query, struct profile *p, const struct api_question *q) {
    uint32_t id[API_NAMES_SAME];
    if (!q->with[0])
        return 0;
    const uint32_t count = api_names_search(profile_methods(p), q->with, id);
    query->method = count ? id[0] : METHOD_NONE;
    const int r = count > 1 ? choose_method(query, p, id, count) : 0;
    query->with_method = true;
    query->from_method = !q->sites; /* sites are below their classes */
    return r;
}

/* Compares with the question's seconds before; the stacks are those of the same method. */
static int take_before(struct api_view *v, struct profile *p, const struct query *now) {
    if (!v->question->compare)
        return 0;
    struct query query = api_question_before(v->question);
    query.with_method = now->with_method;
    query.from_method = now->from_method;
    query.method = now->method;
    query.prune_ppm = now->prune_ppm;
    v->before = snapshot_take(p, &query);
    v->diff = v->before ? diff_new(v->before, v->snapshot) : NULL;
    return v->diff ? 0 : -ENOMEM;
}

int api_view_read(struct api_view *v, struct profile *p, const struct api_question *q,
                  uint64_t now) {
    v->question = q;
    v->span = api_view_span(p, v->status.phase, now);
    struct query query = api_question_query(q, v->span.latest);
    if (profile_node_count(p) > PRUNE_FROM_NODES)
        query.prune_ppm = PRUNE_PPM;
    int r = api_view_narrow(&query, p, q);
    v->snapshot = r == 0 ? snapshot_take(p, &query) : NULL;
    if (!v->snapshot)
        return -ENOMEM;
    r = take_before(v, p, &query);
    if (r == 0)
        r = api_locks_take(&v->locks, v->snapshot, p, q->rows);
    if (r == 0)
        r = api_names_take(&v->names, v->snapshot, profile_methods(p), q->rows, v->locks.method,
                           v->locks.ids);
    return r < 0 ? r : take_timeline(v, p);
}

int api_view_take(struct api_view *v, struct session *s, const struct api_question *q) {
    const uint64_t now = clock_ns(CLOCK_MONOTONIC);
    *v = (struct api_view){.unix_zero = (double)(clock_ns(CLOCK_REALTIME) - now) / SECOND_NS};
    session_status(s, &v->status);
    session_jvm(s, &v->jvm);
    struct profile *p = session_lock(s);
    int r = api_view_read(v, p, q, now / SECOND_NS);
    session_unlock(s);
    if (r < 0)
        api_view_free(v);
    return r;
}

void api_view_free(struct api_view *v) {
    diff_free(v->diff);
    snapshot_free(v->before);
    snapshot_free(v->snapshot);
    api_locks_free(&v->locks);
    api_names_free(&v->names);
    free(v->timeline);
    v->snapshot = v->before = NULL;
    v->diff = NULL;
    v->timeline = NULL;
}

/* Writing. */

static void write_window(struct json *j, const struct api_view *v) {
    uint64_t from, to;
    const bool limited = api_question_window(v->question, v->span.latest, &from, &to);
    if (from < v->span.first)
        from = v->span.first;
    json_begin(j, "window", '{');
    json_number(j, "from", from);
    json_number(j, "to", to);
    json_number(j, "first", v->span.first);
    json_number(j, "oldest", v->span.oldest);
    json_number(j, "latest", v->span.latest);
    json_bool(j, "all", !limited);
    json_real(j, "unix", v->unix_zero);
    json_end(j, '}');
    json_begin(j, "total", '{');
    json_number(j, "weight", v->snapshot->weight);
    json_number(j, "samples", v->snapshot->samples);
    json_number(j, "failed", v->snapshot->failed);
    json_number(j, "sampledNs", v->snapshot->sampled_ns);
    if (v->snapshot->filter_gave_up)
        json_bool(j, "filterGaveUp", true);
    json_end(j, '}');
}

static void write_before(struct json *j, const struct api_view *v) {
    json_begin(j, "before", '{');
    json_number(j, "from", v->question->before_from);
    json_number(j, "to", v->question->before_to);
    json_number(j, "weight", v->before->weight);
    json_number(j, "samples", v->before->samples);
    json_end(j, '}');
}

static void write_change(struct json *j, const char *key, struct diff_change change) {
    json_begin(j, key, '{');
    json_real(j, "points", change.percent);
    json_bool(j, "chance", change.chance);
    json_bool(j, "new", change.is_new);
    json_end(j, '}');
}

static void write_methods(struct json *j, const struct api_view *v) {
    const struct snapshot *s = v->snapshot;
    json_begin(j, "methods", '[');
    for (uint32_t i = 0; i < s->method_count && i < v->question->rows; i++) {
        const struct snapshot_method *m = &s->methods[i];
        const struct api_name *name = api_names_find(&v->names, m->method);
        json_begin(j, NULL, '{');
        json_string(j, "name", name ? name->text : "");
        json_string(j, "kind", api_names_kind(name ? name->is.kind : METHOD_ERROR));
        json_number(j, "tier", snapshot_main_tier(m->tier));
        json_number(j, "self", m->self);
        json_number(j, "total", m->total);
        json_number(j, "selfSamples", m->self_samples);
        json_number(j, "totalSamples", m->total_samples);
        if (v->diff) {
            write_change(j, "selfChange", diff_method_self(v->diff, i));
            write_change(j, "totalChange", diff_method_total(v->diff, i));
        }
        json_end(j, '}');
    }
    json_end(j, ']');
    json_number(j, "methodCount", s->method_count);
}

static void write_states(struct json *j, const struct snapshot_thread *t) {
    json_begin(j, "states", '{');
    for (int i = 0; i < WIRE_THREAD_STATES; i++)
        if (t->state[i])
            json_number(j, wire_state_name[i], t->state[i]);
    json_end(j, '}');
}

static void write_threads(struct json *j, const struct api_view *v) {
    const struct snapshot *s = v->snapshot;
    json_begin(j, "threads", '[');
    for (uint32_t i = 0; i < s->thread_count && i < v->question->rows; i++) {
        const struct snapshot_thread *t = &s->threads[i];
        json_begin(j, NULL, '{');
        json_string(j, "name", t->name ? t->name : "");
        json_number(j, "tid", t->tid);
        json_number(j, "javaId", t->java_id);
        json_bool(j, "virtual", t->is_virtual);
        json_bool(j, "ended", t->ended);
        json_number(j, "weight", t->weight);
        json_number(j, "samples", t->samples);
        write_states(j, t);
        json_string(j, "top", api_names_text(&v->names, t->top_method));
        if (v->diff)
            write_change(j, "change", diff_thread(v->diff, i));
        json_end(j, '}');
    }
    json_end(j, ']');
    json_number(j, "threadCount", s->thread_count);
}

enum series { SERIES_WEIGHT, SERIES_SAMPLES, SERIES_GC, SERIES_OTHER, SERIES };

static uint64_t value_of(const struct profile_second *second, enum series which) {
    switch (which) {
    case SERIES_WEIGHT:
        return second->weight;
    case SERIES_SAMPLES:
        return second->samples;
    case SERIES_GC:
        return second->paused_ns[0] / MS_NS;
    case SERIES_OTHER:
    case SERIES:
        break;
    }
    return second->paused_ns[1] / MS_NS;
}

static void write_timeline(struct json *j, const struct api_view *v) {
    static const char *const name[SERIES] = {"weight", "samples", "gcMs", "otherMs"};
    json_begin(j, "timeline", '{');
    json_number(j, "from", v->timeline_from);
    for (int series = 0; series < SERIES; series++) {
        json_begin(j, name[series], '[');
        for (uint32_t i = 0; i < v->timeline_seconds; i++)
            json_number(j, NULL, value_of(&v->timeline[i], (enum series)series));
        json_end(j, ']');
    }
    json_end(j, '}');
}

int api_view_write(struct api_view *v, struct text *out) {
    struct json j = {.out = out};
    if (api_names_settle(&v->names) < 0)
        return -ENOMEM;
    json_begin(&j, NULL, '{');
    api_jvms_write(&j, &v->jvm);
    api_jvms_status(&j, &v->status);
    api_jvms_events(&j, &v->status);
    json_string(&j, "event", quality_event_name(&v->status, v->question->event));
    json_string(&j, "unit", event_kind_unit[v->question->event]);
    write_window(&j, v);
    if (v->diff)
        write_before(&j, v);
    write_methods(&j, v);
    write_threads(&j, v);
    int r = 0;
    if (v->question->tree)
        r = api_tree_write(&j, v->snapshot, v->diff, &v->names, v->question->nodes);
    if (v->question->locks)
        api_locks_write(&j, &v->locks, v->snapshot, &v->names);
    write_timeline(&j, v);
    json_end(&j, '}');
    return r < 0 || out->failed ? -ENOMEM : 0;
}
