/* Writing what was planned. */
#include "tui/cli/output/output.h"

#include "core/report/report_format.h"
#include "tui/cli/output/growing.h"
#include "tui/cli/output/jfr_sync.h"
#include "tui/cli/output/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool output_is_jfr_file(const struct output *item) {
    return item->path.data && strcmp(item->exporter->name, "jfr") == 0;
}

struct writing {
    const struct outputs *out;
    const struct options *o;
    struct report_view view;
};

/* Whether a report follows another one on stdout. */
static bool is_followed(const struct outputs *out, const struct output *item) {
    for (int i = 0; i < out->count; i++)
        if (!item->path.data && !out->item[i].path.data && out->item[i].event != item->event)
            return true;
    return false;
}

/* One event of a file. */
static int ask(struct report_part *part, const struct writing *w, const struct output *item,
               const struct output_event *event) {
    part->query = (struct query){.event = event->event};
    report_query(&part->query, item->exporter, &w->o->export);
    selection_query(w->o, &part->query);
    int r = report_take(part, &w->view);
    int events = 0;
    for (int i = 0; i < w->out->events; i++)
        events += !w->out->event[i].jfr_only;
    part->quality.trace = event->trace;
    part->quality.several = events > 1 && !item->all;
    part->quality.heading = is_followed(w->out, item);
    return r;
}

/* To whoever takes it in place of a file. */
static int put(const struct writing *w, const struct output *item, const struct export_part *part,
               int parts, const struct export_options *o, struct err *e) {
    struct text t = {0};
    int r = report_write(&w->view, item->exporter, part, parts, o, &t, e);
    if (r == 0)
        r = w->out->put(w->out->put_arg, item->path.data, &t, e);
    text_free(&t);
    return r;
}

static int write_parts(const struct writing *w, const struct output *item,
                       const struct export_part *part, int parts, struct err *e) {
    struct export_options options = w->o->export;
    options.question = part[0].question;
    if (growing_has(w->out->growing, item))
        return growing_end(w->out->growing, item, part, parts, &options, e);
    if (w->out->put)
        return put(w, item, part, parts, &options, e);
    return export_file_all(item->path.data, item->exporter, w->view.profile, part, parts, &options,
                           e);
}

static int write_one(const struct writing *w, const struct output *item, struct err *e) {
    struct report_part a = {0};
    if (ask(&a, w, item, item->event) < 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
    const struct export_part part = {a.snapshot, &a.quality, &a.query};
    int r = write_parts(w, item, &part, 1, e);
    snapshot_free(a.snapshot);
    return r;
}

static int write_together(const struct writing *w, const struct output *item, struct err *e) {
    struct report_part *a = calloc(EVENT_KINDS, sizeof *a);
    struct export_part part[EVENT_KINDS] = {0};
    int parts = 0, r = a ? 0 : -ENOMEM;
    for (int i = 0; i < w->out->events && r == 0; i++) {
        if (!outputs_want(w->out, item->exporter, &w->out->event[i]))
            continue;
        r = ask(&a[parts], w, item, &w->out->event[i]);
        part[parts] = (struct export_part){a[parts].snapshot, &a[parts].quality, &a[parts].query};
        parts++;
    }
    r = r == 0 ? write_parts(w, item, part, parts, e)
               : err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
    for (int i = 0; i < parts; i++)
        snapshot_free(a[i].snapshot);
    free(a);
    return r;
}

/* What the JDK's own recorder has, behind ours. */
static int append_sync(const struct outputs *out, struct err *e) {
    int r = 0;
    for (int i = 0; i < out->count && r == 0; i++)
        if (output_is_jfr_file(&out->item[i]) && !out->item[i].event->extra)
            r = jfr_sync_append(out->sync, out->item[i].path.data, e);
    return r;
}

int outputs_write(const struct outputs *out, const struct options *o, struct session *s,
                  struct err *e) {
    struct writing w = {.out = out, .o = o};
    int first = out->sync && !out->put ? jfr_sync_stop(out->sync, e) : 0;
    growing_stop(out->growing);
    report_open(&w.view, s);
    for (int i = 0; i < out->count; i++) {
        const struct output *item = &out->item[i];
        struct err one = {0};
        int r = item->all ? write_together(&w, item, &one) : write_one(&w, item, &one);
        /* -EPIPE: who reads our stdout has seen enough (| head), and that is no failure. */
        if (r < 0 && r != -EPIPE && first == 0) {
            first = r;
            *e = one;
        }
    }
    report_close(&w.view);
    if (first == 0 && out->sync && !out->put)
        first = append_sync(out, e);
    return first;
}

void outputs_renamed(const struct outputs *out, struct text *names) {
    for (int i = 0; i < out->count; i++)
        if (out->item[i].renamed)
            text_addf(names, "%s%s", names->len ? ", " : "", out->item[i].path.data);
}

void outputs_say_renamed(const struct outputs *out) {
    struct text names = {0};
    outputs_renamed(out, &names);
    if (names.len)
        fprintf(stderr, "jtop-prof: a file for each event: %s\n", names.data);
    text_free(&names);
}

/* When the profile is over at the latest; 0: not known. Of those in the background --timeout only. */
static uint64_t limit_ms(const struct options *o) {
    uint64_t timeout = options_moment_ms(&o->timeout, time(NULL));
    return o->action == ACTION_COLLECT && o->duration_ms > timeout ? o->duration_ms : timeout;
}

int outputs_begin(struct outputs *out, const struct options *o, struct session *s, struct err *e) {
    struct jvm j;
    if (out->put)
        return 0;
    session_jvm(s, &j);
    int r = 0;
    if (o->jfr_sync)
        r = jfr_sync_begin(&out->sync, o->jfr_sync, &o->session, &j, limit_ms(o), e);
    if (r == 0)
        r = growing_begin(&out->growing, out, o, s, e);
    return r;
}

void outputs_free(struct outputs *out) {
    for (int i = 0; i < out->count; i++)
        text_free(&out->item[i].path);
    out->count = 0;
    growing_free(out->growing);
    out->growing = NULL;
    jfr_sync_free(out->sync);
    out->sync = NULL;
}
