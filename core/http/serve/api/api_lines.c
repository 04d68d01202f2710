/* /api/v1/jvms/PID/lines: the lines of a method that have samples, and its source. */
#include "core/http/serve/api/api.h"

#include "core/base/clock.h"
#include "core/http/serve/api/api_names.h"
#include "core/http/serve/api/api_sources.h"
#include "core/http/serve/api/api_view.h"
#include "core/http/serve/api/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLASS_BYTES 1024 /* of a class with a source; longer names have none */

struct lines {
    struct snapshot_line *line; /* sorted by line */
    uint32_t count;
    uint64_t weight, samples;     /* of everything in the query, as in a view */
    char class_name[CLASS_BYTES]; /* "": not a Java method */
    pid_t pid;                    /* 0: the JVM is gone */
};

/* What is requested beside the lines. */
struct ask {
    const char *method;
    bool source;
    uint64_t context;
};

/* Adds the lines of a snapshot; both are sorted. */
static int merge(struct lines *to, const struct snapshot *s) {
    struct snapshot_line *both = malloc(((size_t)to->count + s->line_count + 1) * sizeof *both);
    uint32_t i = 0, k = 0, n = 0;
    if (!both)
        return -ENOMEM;
    while (i < to->count || k < s->line_count) {
        const bool mine =
            k == s->line_count || (i < to->count && to->line[i].line <= s->lines[k].line);
        const struct snapshot_line *next = mine ? &to->line[i++] : &s->lines[k++];
        if (n == 0 || both[n - 1].line != next->line) {
            both[n++] = *next;
            continue;
        }
        both[n - 1].self += next->self;
        both[n - 1].total += next->total;
        both[n - 1].self_samples += next->self_samples;
        both[n - 1].total_samples += next->total_samples;
    }
    free(to->line);
    to->line = both;
    to->count = n;
    return 0;
}

/* All methods of one name are of classes of one name. */
static void take_class(struct lines *to, const struct method *m) {
    if (m->kind == METHOD_JAVA && strlen(m->class_name) < sizeof to->class_name)
        memcpy(to->class_name, m->class_name, strlen(m->class_name) + 1);
}

/* 0: no such method; else 1, or -ENOMEM. */
static int take_lines(struct session *s, const struct api_question *q, const char *name,
                      struct lines *out) {
    struct session_status st;
    uint32_t id[API_NAMES_SAME];
    struct jvm jvm;
    session_status(s, &st);
    session_jvm(s, &jvm);
    out->pid = st.phase == SESSION_RUNNING ? jvm.pid : 0;
    struct profile *p = session_lock(s);
    struct query query =
        api_question_query(q, api_view_span(p, st.phase, clock_now_ms() / 1000).latest);
    query.tree = false;
    query.lines = true;
    query.locks = false;
    int r = api_view_narrow(&query, p, q);
    const uint32_t methods = api_names_search(profile_methods(p), name, id);
    for (uint32_t i = 0; i < methods && r == 0; i++) {
        query.lines_of = id[i];
        take_class(out, method_table_get(profile_methods(p), id[i]));
        struct snapshot *snapshot = snapshot_take(p, &query);
        r = snapshot ? merge(out, snapshot) : -ENOMEM;
        if (r == 0) {
            out->weight = snapshot->weight;
            out->samples = snapshot->samples;
        }
        snapshot_free(snapshot);
    }
    session_unlock(s);
    return r < 0 ? r : methods > 0;
}

static void write_lines(struct text *out, struct api_sources *sources, const struct ask *ask,
                        const struct lines *lines) {
    struct json j = {.out = out};
    json_begin(&j, NULL, '{');
    json_string(&j, "method", ask->method);
    json_begin(&j, "total", '{');
    json_number(&j, "weight", lines->weight);
    json_number(&j, "samples", lines->samples);
    json_end(&j, '}');
    json_begin(&j, "lines", '[');
    for (uint32_t i = 0; i < lines->count; i++) {
        json_begin(&j, NULL, '{');
        json_number(&j, "line", lines->line[i].line);
        json_number(&j, "self", lines->line[i].self);
        json_number(&j, "total", lines->line[i].total);
        json_number(&j, "samples", lines->line[i].total_samples);
        json_end(&j, '}');
    }
    json_end(&j, ']');
    if (ask->source)
        api_sources_write(&j, sources, lines->pid, lines->class_name, lines->line, lines->count,
                          (uint32_t)ask->context);
    json_end(&j, '}');
}

/* -EINVAL with a message for a 400. */
static int read_ask(struct ask *ask, struct params *p, struct err *e) {
    *ask = (struct ask){.method = params_text(p, "method"),
                        .source = params_flag(p, "source"),
                        .context = API_SOURCES_CONTEXT};
    if (!ask->method || !*ask->method)
        return err_set(e, EINVAL, "method: must be the name of a method, as shown in a view");
    const int r = params_number(p, "context", 0, API_SOURCES_CONTEXT_MAX, &ask->context, e);
    return r < 0 ? r : 0;
}

void api_lines(struct serve *s, const struct serve_request *q, pid_t pid, struct serve_answer *a) {
    struct api_question question;
    struct fleet_user *user;
    struct lines lines = {0};
    struct ask ask;
    struct err e = {0};
    if (read_ask(&ask, q->params, &e) < 0) {
        serve_refuse_err(a, &e);
        return;
    }
    if (api_enter(s, q, pid, &question, &user, a) < 0)
        return;
    const int r = take_lines(fleet_session(user), &question, ask.method, &lines);
    fleet_leave(user);
    if (r == 0) {
        serve_refuse(a, 404, "method: no such method was seen in this profile");
    } else {
        write_lines(&a->body, s->sources, &ask, &lines);
        api_finish(a, r);
    }
    free(lines.line);
}
