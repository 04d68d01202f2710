#include "tui/output.h"

#include "core/profile/snapshot.h"
#include "tui/quality.h"

#include <errno.h>
#include <stdio.h>
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

static int add_file(const struct plan *p, const struct exporter *x, const char *pattern,
                    const struct output_event *event) {
    struct outputs *out = p->out;
    struct output *item = &out->item[out->count++];
    struct export_path of = p->of;
    struct text path = {0};
    *item = (struct output){.exporter = x, .event = event};
    of.event = event->name;
    int r = export_path_expand(pattern, &of, &path, p->e);
    if (r == 0 && (main_events(out) > 1 || event->extra) && !export_path_has_event(pattern)) {
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
    for (int i = 0; i < p->out->events && r == 0; i++)
        r = add_file(p, x, pattern, &p->out->event[i]);
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
    if (r == 0 && o->session.record && !out->put)
        r = export_check_path(o->session.record, e);
    return r;
}

/* Whether a report follows another one on stdout. */
static bool is_followed(const struct outputs *out, const struct output *item) {
    for (int i = 0; i < out->count; i++)
        if (!item->path.data && !out->item[i].path.data && out->item[i].event != item->event)
            return true;
    return false;
}

static int write_one(const struct outputs *out, const struct output *item, const struct options *o,
                     struct profile *p, struct export_quality *quality, struct err *e) {
    /* Only flame graphs can be made from the leaves up; the others read from the root down. */
    bool graph = !strcmp(item->exporter->name, "svg") || !strcmp(item->exporter->name, "html");
    struct export_options options = o->export;
    struct query query = {.event = item->event->event,
                          .inverted = o->export.reverse && graph,
                          .by_thread = o->export.threads,
                          .carriers = o->export.carriers,
                          .tiers = o->export.annotate,
                          .tree = true};
    struct snapshot *snap = snapshot_take(p, &query);
    if (!snap)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
    quality->several = out->events > 1;
    quality->heading = is_followed(out, item);
    options.question = &query;
    struct text t = {0};
    int r = export_format(&t, item->exporter, p, snap, quality, &options, e);
    if (r == 0)
        r = out->put ? out->put(out->put_arg, item->path.data, &t, e)
                     : export_write(item->path.data, &t, e);
    text_free(&t);
    snapshot_free(snap);
    return r;
}

int outputs_write(const struct outputs *out, const struct options *o, struct session *s,
                  struct err *e) {
    struct session_status st;
    struct jvm j;
    session_status(s, &st);
    session_jvm(s, &j);
    struct profile *p = session_lock(s);
    int first = 0;
    for (int i = 0; i < out->count; i++) {
        struct export_quality quality;
        struct quality_text text = {0};
        struct err one = {0};
        quality_of_event(&quality, &st, out->item[i].event->event, &j, &text);
        int r = write_one(out, &out->item[i], o, p, &quality, &one);
        /* -EPIPE: who reads our stdout has seen enough (| head), and that is no failure. */
        if (r < 0 && r != -EPIPE && first == 0) {
            first = r;
            *e = one;
        }
    }
    session_unlock(s);
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
    (void)out, (void)o, (void)s, (void)e;
    return 0;
}

void outputs_free(struct outputs *out) {
    for (int i = 0; i < out->count; i++)
        text_free(&out->item[i].path);
    out->count = 0;
}
