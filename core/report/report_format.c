#include "core/report/report_format.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static void mark_of(const struct session_status *st, struct report_mark *out) {
    *out = (struct report_mark){.elapsed_ns = st->elapsed_ns,
                                .samples = st->samples,
                                .windows = st->windows,
                                .window_ns = st->window_ns};
    for (int i = 0; i < EVENT_KINDS; i++) {
        out->event_samples[i] = st->engine[i].samples;
        out->dropped[i] = st->engine[i].dropped;
    }
    memcpy(out->failed, st->failed, sizeof out->failed);
}

void report_mark(struct session *s, struct report_mark *out) {
    struct session_status st;
    session_status(s, &st);
    mark_of(&st, out);
}

/* Counters may restart if the session views another process's session, so the result never goes
 * below 0. */
static void take_off(uint64_t *n, uint64_t before) {
    *n = *n > before ? *n - before : 0;
}

static void count_since(struct session_status *st, const struct report_mark *m) {
    take_off(&st->elapsed_ns, m->elapsed_ns);
    take_off(&st->samples, m->samples);
    take_off(&st->windows, m->windows);
    take_off(&st->window_ns, m->window_ns);
    for (int i = 0; i < EVENT_KINDS; i++) {
        take_off(&st->engine[i].samples, m->event_samples[i]);
        take_off(&st->engine[i].dropped, m->dropped[i]);
    }
    for (int i = 0; i < WIRE_FAILURES; i++)
        take_off(&st->failed[i], m->failed[i]);
}

/* Reduces the status to the part that the request asks for. */
static void narrow(struct session_status *st, const struct report_request *q) {
    struct report_mark all;
    mark_of(st, &all);
    if (q->since)
        count_since(st, q->since);
    else if (q->elapsed_ns)
        count_since(st, &all);
    if (q->elapsed_ns)
        st->elapsed_ns = q->elapsed_ns;
}

static void give_up(void *arg) {
    session_unlock(arg);
    (void)sched_yield(); /* a chance for who waits for the lock */
}

static void take(void *arg) {
    (void)session_lock(arg);
}

void report_open(struct report_view *v, struct session *s) {
    v->session = s;
    v->lock = (struct export_lock){give_up, take, s};
    session_catch_up(s);
    session_status(s, &v->status);
    session_jvm(s, &v->jvm);
    session_cpu(s, &v->cpu);
    v->profile = session_lock(s);
}

void report_refresh(struct report_view *v) {
    session_unlock(v->session);
    session_status(v->session, &v->status);
    session_cpu(v->session, &v->cpu);
    v->profile = session_lock(v->session);
}

void report_close(struct report_view *v) {
    v->profile = NULL;
    session_unlock(v->session);
}

void report_query(struct query *q, const struct exporter *x, const struct export_options *o) {
    bool tree = !x->samples;
    /* Only pictures can be drawn from the leaves; the other formats are read from the root down. */
    q->inverted = o->reverse && x->picture;
    q->by_thread = o->threads && tree;
    q->carriers = o->carriers;
    q->tiers = o->annotate && tree;
    q->simple_names = o->simple;
    q->tree = tree;
    q->sums_only = !tree;
    q->forks = x->walks && !o->annotate;
}

int report_take(struct report_part *part, const struct report_view *v) {
    quality_of_event(&part->quality, &v->status, part->query.event, &v->jvm, &part->text);
    quality_limit(&part->quality, &v->cpu);
    part->snapshot = snapshot_take(v->profile, &part->query);
    return part->snapshot ? 0 : -ENOMEM;
}

/* A text in memory that is made in pieces, because the lock is given up after each. */
struct pieces {
    struct text *out;
    const struct export_options *options;
};

static int take_piece(void *arg, const char *data, size_t len) {
    struct pieces *k = arg;
    export_give_up(k->options);
    text_add_n(k->out, data, len);
    export_take(k->options);
    return k->out->failed ? -ENOMEM : 0;
}

static int write_text(const struct report_view *v, const struct exporter *x,
                      const struct export_part *part, int parts,
                      const struct export_options *options, struct text *out) {
    return parts > 1 ? x->write_all(out, v->profile, part, parts, options)
                     : x->write(out, v->profile, part->snapshot, part->quality, options);
}

int report_write(const struct report_view *v, const struct exporter *x,
                 const struct export_part *part, int parts, const struct export_options *options,
                 struct text *out, struct err *e) {
    struct pieces k = {out, options};
    struct text t = {.sink = take_piece, .sink_arg = &k};
    int r = write_text(v, x, part, parts, options, x->whole || out->sink ? out : &t);
    if (t.len)
        text_add_n(out, t.data, t.len);
    out->failed |= t.failed;
    text_free(&t);
    return r < 0 || out->failed ? err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM,
                                              "no memory to format the profile as %s", x->name)
                                : 0;
}

static int check(const struct report_view *v, const struct report_request *q, const int *event,
                 uint32_t events, struct err *e) {
    if (events > EVENT_KINDS || (events > 1 && !q->exporter->write_all))
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "%s holds only one event, and there are %u", q->exporter->name, events);
    for (uint32_t i = 0; i < events; i++) {
        if (event[i] < 0 || event[i] >= EVENT_KINDS)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "%d is not an event number", event[i]);
        const struct session_engine *engine = &v->status.engine[event[i]];
        if (!engine->asked && !engine->runs && !engine->samples)
            return err_exit_as(e, ERR_EXIT_PROFILER, ENODATA, "%s was not sampled",
                               event_kind_name[event[i]]);
    }
    return 0;
}

static int format(const struct report_view *v, const struct report_request *q,
                  struct report_part *part, const int *event, int events, struct text *out,
                  struct err *e) {
    struct export_options options = q->export;
    struct export_part parts[EVENT_KINDS] = {0};
    for (int i = 0; i < events; i++) {
        part[i].query = q->query;
        part[i].query.event = event[i];
        report_query(&part[i].query, q->exporter, &q->export);
        if (report_take(&part[i], v) < 0)
            return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
        if (events > 1)
            part[i].quality.several = false; /* they are all in this file */
        parts[i] = (struct export_part){part[i].snapshot, &part[i].quality, &part[i].query};
    }
    options.question = parts[0].question;
    options.lock = &v->lock;
    return report_write(v, q->exporter, parts, events, &options, out, e);
}

int report_format(struct session *s, const struct report_request *q, struct text *out,
                  struct err *e) {
    const int *event = q->events ? q->event : &q->query.event;
    uint32_t events = q->events ? q->events : 1;
    struct report_part *part = calloc(EVENT_KINDS, sizeof *part);
    struct report_view v;
    if (!part)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
    report_open(&v, s);
    int r = check(&v, q, event, events, e);
    narrow(&v.status, q);
    if (r == 0)
        r = format(&v, q, part, event, (int)events, out, e);
    report_close(&v);
    for (int i = 0; i < EVENT_KINDS; i++)
        snapshot_free(part[i].snapshot);
    free(part);
    return r;
}
