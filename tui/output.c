#include "tui/output.h"

#include "core/profile/snapshot.h"
#include "tui/growing.h"
#include "tui/jfr_sync.h"
#include "tui/quality.h"
#include "tui/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is planned for: where it is asked, and what %-letters mean. */
struct plan {
    struct outputs *out;
    const struct options *o;
    struct export_path of;
    struct err *e;
};

static void add_event(struct outputs *out, int event, const char *name, bool extra) {
    struct output_event *item = &out->event[out->events++];
    *item = (struct output_event){.event = event, .extra = extra};
    snprintf(item->name, sizeof item->name, "%s", name);
}

static void list_asked(struct outputs *out, const struct session_options *so) {
    for (uint32_t i = 0; i < so->engines; i++) {
        const struct wire_engine_request *q = &so->engine[i];
        bool live = q->event == WIRE_EVENT_ALLOC && q->flags & WIRE_ENGINE_LIVE;
        if (live)
            add_event(out, SESSION_EVENT_LIVE, session_event_name[SESSION_EVENT_LIVE], false);
        else
            add_event(out, (int)q->event, q->name, false);
        if (q->event == WIRE_EVENT_NATIVEMEM && !(q->flags & WIRE_ENGINE_NO_FREE))
            add_event(out, SESSION_EVENT_LEAK, session_event_name[SESSION_EVENT_LEAK], true);
    }
}

static void list_recorded(struct outputs *out, const struct session_status *st) {
    for (int i = 0; i < SESSION_EVENTS; i++) {
        const struct session_engine *engine = &st->engine[i];
        bool made = i >= WIRE_EVENTS;
        if (engine->samples)
            add_event(out, i, engine->name[0] && !made ? engine->name : session_event_name[i],
                      i == SESSION_EVENT_LEAK);
    }
    if (!out->events) /* nothing at all was sampled, and that is what the report says */
        add_event(out, WIRE_EVENT_CPU, st->event[0] ? st->event : "cpu", false);
}

static int main_events(const struct outputs *out) {
    int n = 0;
    for (int i = 0; i < out->events; i++)
        n += !out->event[i].extra;
    return n;
}

/* Of several events. */
static bool holds_all(const struct outputs *out, const struct exporter *x) {
    return x->write_all && main_events(out) > 1;
}

static int add_file(const struct plan *p, const struct exporter *x, const char *pattern,
                    const struct output_event *event) {
    struct outputs *out = p->out;
    struct output *item = &out->item[out->count++];
    struct export_path of = p->of;
    struct text path = {0};
    *item = (struct output){.exporter = x, .event = event};
    of.event = event->name;
    int r = export_path_expand(pattern, &of, &path, p->e);
    item->all = holds_all(out, x) && !event->extra && !export_path_has_event(pattern);
    bool own = (main_events(out) > 1 && !item->all) || event->extra;
    if (r == 0 && own && !export_path_has_event(pattern)) {
        item->renamed = true;
        export_path_add_event(path.data, x, event->name, &item->path);
        text_free(&path);
    } else {
        item->path = path;
    }
    if (r == 0 && item->path.failed)
        r = err_exit_as(p->e, ERR_EXIT_PROFILER, ENOMEM, "no memory for a file name");
    return r < 0 || out->put ? r : export_check_path(item->path.data, p->e);
}

static bool can_follow(const struct exporter *x) {
    return strcmp(x->name, "text") == 0 || strcmp(x->name, "collapsed") == 0;
}

static int add_to_stdout(const struct plan *p, const struct exporter *x) {
    struct outputs *out = p->out;
    if (holds_all(out, x)) {
        out->item[out->count++] =
            (struct output){.exporter = x, .event = &out->event[0], .all = true};
        return 0;
    }
    if (main_events(out) > 1 && !can_follow(x))
        return err_exit_as(p->e, ERR_EXIT_ARGUMENT, EINVAL,
                           "-o %s holds one event, and there are %d: give a file (-f), which "
                           "becomes one for each",
                           x->name, main_events(out));
    for (int i = 0; i < out->events; i++)
        /* What nobody asked for must not get between a script and its stacks. */
        if (!out->event[i].extra || strcmp(x->name, "text") == 0)
            out->item[out->count++] = (struct output){.exporter = x, .event = &out->event[i]};
    return 0;
}

static int add(const struct plan *p, const struct exporter *x, const char *pattern) {
    int r = 0;
    if (!pattern || strcmp(pattern, "-") == 0)
        return add_to_stdout(p, x);
    bool together = false;
    for (int i = 0; i < p->out->events && r == 0; i++) {
        const struct output_event *event = &p->out->event[i];
        if (together && !event->extra)
            continue;
        r = add_file(p, x, pattern, event);
        together |= p->out->item[p->out->count - 1].all;
    }
    return r;
}

/* Text by name, whatever the order of the table. */
static const struct exporter *default_exporter(void) {
    struct export_options unused = {0};
    const struct exporter *x = exporter_by_format("text", &unused);
    return x ? x : &exporters[0];
}

static int plan_stdout(const struct plan *p) {
    int r = 0;
    if (!p->o->formats)
        return add(p, default_exporter(), NULL);
    for (int i = 0; i < p->o->formats && r == 0; i++)
        r = add(p, p->o->format[i], NULL);
    return r;
}

static int find_format(const struct options *o, const struct exporter *x) {
    for (int i = 0; i < o->formats; i++)
        if (o->format[i] == x)
            return i;
    return -1;
}

static int plan_files(const struct plan *p) {
    const struct options *o = p->o;
    struct err *e = p->e;
    const struct exporter *chosen[OPTIONS_OUTPUTS_MAX] = {0};
    bool used[OPTIONS_OUTPUTS_MAX] = {false};
    for (int f = 0; f < o->files; f++) {
        const struct exporter *x = exporter_by_path(o->file[f]);
        int format = x ? find_format(o, x) : -1;
        if (format >= 0)
            used[format] = true;
        if (format >= 0 || !o->formats)
            chosen[f] = x;
    }
    int next = 0;
    for (int f = 0; f < o->files; f++) {
        if (chosen[f])
            continue;
        while (next < o->formats && used[next])
            next++;
        if (next < o->formats) {
            used[next] = true;
            chosen[f] = o->format[next];
        } else {
            const struct exporter *x = exporter_by_path(o->file[f]);
            chosen[f] = x ? x : default_exporter();
        }
    }
    for (int i = 0; i < o->formats; i++)
        if (!used[i])
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "-o %s: no file is left for it; give one more -f",
                               o->format[i]->name);
    int r = 0;
    for (int f = 0; f < o->files && r == 0; f++)
        r = add(p, chosen[f], o->file[f]);
    return r;
}

static bool is_jfr_file(const struct output *item) {
    return item->path.data && strcmp(item->exporter->name, "jfr") == 0;
}

/* The JDK's recorder needs a file to be in, and a JVM that is not a recording. */
static int check_sync(const struct outputs *out, const struct options *o, bool replayed,
                      struct err *e) {
    bool any = false;
    for (int i = 0; i < out->count; i++)
        any |= is_jfr_file(&out->item[i]);
    if (!o->jfr_sync || (any && !replayed))
        return 0;
    return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "--jfrsync %s",
                       replayed ? "needs a JVM that runs: this is a recording"
                                : "needs a file in JFR's format: -f FILE.jfr");
}

/* Two events must not land in one file. */
static int check_distinct(const struct outputs *out, struct err *e) {
    for (int i = 0; i < out->count; i++)
        for (int k = 0; k < i; k++)
            if (out->item[i].path.data && out->item[k].path.data &&
                out->item[i].event != out->item[k].event &&
                strcmp(out->item[i].path.data, out->item[k].path.data) == 0)
                return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                                   "%s would be written for two events", out->item[i].path.data);
    return 0;
}

int outputs_plan(struct outputs *out, const struct options *o, int pid, unsigned sequence,
                 const struct session_status *replayed, struct err *e) {
    const struct plan p = {.out = out, .o = o, .of = {.pid = pid, .sequence = sequence}, .e = e};
    out->events = out->count = 0;
    if (replayed && !o->events_given)
        list_recorded(out, replayed);
    else
        list_asked(out, &o->session);
    int r = o->files ? plan_files(&p) : plan_stdout(&p);
    if (r == 0)
        r = check_distinct(out, e);
    if (r == 0 && !out->put)
        r = check_sync(out, o, replayed != NULL, e);
    if (r == 0 && o->session.record && !out->put)
        r = export_check_path(o->session.record, e);
    return r;
}

struct writing {
    const struct outputs *out;
    const struct options *o;
    struct session_status status;
    struct jvm jvm;
    struct profile *profile; /* locked */
};

/* Whether a report follows another one on stdout. */
static bool is_followed(const struct outputs *out, const struct output *item) {
    for (int i = 0; i < out->count; i++)
        if (!item->path.data && !out->item[i].path.data && out->item[i].event != item->event)
            return true;
    return false;
}

/* One event of a file: what is asked of the profile, and the answer. */
struct asked {
    struct query query;
    struct quality_text text;
    struct export_quality quality;
    struct snapshot *snapshot;
};

static int ask(struct asked *a, const struct writing *w, const struct output *item,
               const struct output_event *event) {
    const struct options *o = w->o;
    /* Only pictures can be made from the leaves up; the others read from the root down. */
    bool graph = !strcmp(item->exporter->name, "svg") || !strcmp(item->exporter->name, "html") ||
                 !strcmp(item->exporter->name, "tree");
    a->query = (struct query){.event = event->event,
                              .inverted = o->export.reverse && graph,
                              .by_thread = o->export.threads,
                              .carriers = o->export.carriers,
                              .tiers = o->export.annotate,
                              .tree = true};
    selection_query(o, &a->query);
    quality_of_event(&a->quality, &w->status, event->event, &w->jvm, &a->text);
    a->quality.several = w->out->events > 1 && !item->all;
    a->quality.heading = is_followed(w->out, item);
    a->snapshot = snapshot_take(w->profile, &a->query);
    return a->snapshot ? 0 : -ENOMEM;
}

/* To a file, or to whoever takes it in place of one (outputs.put). */
static int hand_over(const struct outputs *out, const struct output *item, struct text *t,
                     struct err *e) {
    return out->put ? out->put(out->put_arg, item->path.data, t, e)
                    : export_write(item->path.data, t, e);
}

static int write_one(const struct writing *w, const struct output *item, struct err *e) {
    struct export_options options = w->o->export;
    struct asked a = {0};
    if (ask(&a, w, item, item->event) < 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
    options.question = &a.query;
    const struct export_part part = {a.snapshot, &a.quality, &a.query};
    struct text t = {0};
    if (growing_has(w->out->growing, item)) {
        int r = growing_end(w->out->growing, item, &part, 1, &options, e);
        snapshot_free(a.snapshot);
        return r;
    }
    int r = export_format(&t, item->exporter, w->profile, a.snapshot, &a.quality, &options, e);
    if (r == 0)
        r = hand_over(w->out, item, &t, e);
    text_free(&t);
    snapshot_free(a.snapshot);
    return r;
}

static int write_parts(const struct writing *w, const struct output *item,
                       const struct export_part *part, int parts, struct err *e) {
    struct export_options options = w->o->export;
    struct text t = {0};
    options.question = part[0].question;
    if (growing_has(w->out->growing, item))
        return growing_end(w->out->growing, item, part, parts, &options, e);
    int r = item->exporter->write_all(&t, w->profile, part, parts, &options);
    if (r < 0 || t.failed)
        r = err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory to format the profile as %s",
                        item->exporter->name);
    else
        r = hand_over(w->out, item, &t, e);
    text_free(&t);
    return r;
}

static int write_together(const struct writing *w, const struct output *item, struct err *e) {
    struct asked *a = calloc(SESSION_EVENTS, sizeof *a);
    struct export_part part[SESSION_EVENTS];
    int parts = 0, r = a ? 0 : -ENOMEM;
    for (int i = 0; i < w->out->events && r == 0; i++) {
        if (w->out->event[i].extra)
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
        if (is_jfr_file(&out->item[i]) && !out->item[i].event->extra)
            r = jfr_sync_append(out->sync, out->item[i].path.data, e);
    return r;
}

int outputs_write(const struct outputs *out, const struct options *o, struct session *s,
                  struct err *e) {
    struct writing w = {.out = out, .o = o};
    int first = out->sync && !out->put ? jfr_sync_stop(out->sync, e) : 0;
    growing_stop(out->growing);
    session_status(s, &w.status);
    session_jvm(s, &w.jvm);
    w.profile = session_lock(s);
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
    session_unlock(s);
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

int outputs_begin(struct outputs *out, const struct options *o, struct session *s, struct err *e) {
    struct jvm j;
    if (out->put)
        return 0;
    session_jvm(s, &j);
    int r = o->jfr_sync ? jfr_sync_begin(&out->sync, o->jfr_sync, &o->session, &j, e) : 0;
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
