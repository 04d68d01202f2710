/* Planning and writing of the output files. */
#include "tui/cli/output/output.h"

#include "core/export/human.h"
#include "core/report/report_format.h"
#include "tui/cli/output/growing.h"
#include "tui/cli/output/jfr_join.h"
#include "tui/cli/output/jfr_sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Planning: which files and reports there will be. */

/* What planning needs: where it plans, and the values of %-letters. */
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

static void list_asked(struct outputs *out, const struct options *o) {
    const struct session_options *so = &o->session;
    for (uint32_t i = 0; i < so->engines; i++) {
        const struct wire_engine_request *q = &so->engine[i];
        bool live = q->event == WIRE_EVENT_ALLOC && q->flags & WIRE_ENGINE_LIVE;
        if (live)
            add_event(out, EVENT_LIVE, event_kind_name[EVENT_LIVE], false);
        add_event(out, (int)q->event, q->name, false);
        out->event[out->events - 1].jfr_only = live;
        out->event[out->events - 1].trace = o->trace && q->event == WIRE_EVENT_METHOD;
        if (q->event == WIRE_EVENT_NATIVEMEM && !(q->flags & WIRE_ENGINE_NO_FREE))
            add_event(out, EVENT_LEAK, event_kind_name[EVENT_LEAK], true);
    }
}

static void list_recorded(struct outputs *out, const struct session_status *st) {
    for (int i = 0; i < EVENT_KINDS; i++) {
        const struct session_engine *engine = &st->engine[i];
        bool made = i >= WIRE_EVENTS;
        if (engine->samples)
            add_event(out, i, engine->name[0] && !made ? engine->name : event_kind_name[i],
                      i == EVENT_LEAK);
    }
    if (!out->events) /* nothing was sampled, and the report shows that */
        add_event(out, WIRE_EVENT_CPU, st->event[0] ? st->event : "cpu", false);
}

static int main_events(const struct outputs *out) {
    int n = 0;
    for (int i = 0; i < out->events; i++)
        n += !out->event[i].extra && !out->event[i].jfr_only;
    return n;
}

/* True if files of this format contain the event, or exist for it. */
static bool outputs_want(const struct outputs *out, const struct exporter *x,
                         const struct output_event *event) {
    bool jfr = strcmp(x->name, "jfr") == 0;
    return event->jfr_only ? jfr : !event->extra || !jfr || main_events(out) == 0;
}

/* True if a file of this format has several events. */
static bool holds_all(const struct outputs *out, const struct exporter *x) {
    int n = 0;
    for (int i = 0; i < out->events; i++)
        n += outputs_want(out, x, &out->event[i]);
    return x->write_all && n > 1;
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
    item->all = holds_all(out, x) && !export_path_has_event(pattern);
    bool own = !item->all && (main_events(out) > 1 || event->extra);
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
                           "-o %s holds only one event, and there are %d: give a file (-f) to get "
                           "one file for each",
                           x->name, main_events(out));
    for (int i = 0; i < out->events; i++)
        /* An extra event must not disturb a script that reads stacks. */
        if (outputs_want(out, x, &out->event[i]) &&
            (!out->event[i].extra || strcmp(x->name, "text") == 0))
            out->item[out->count++] = (struct output){.exporter = x, .event = &out->event[i]};
    return 0;
}

static int add(const struct plan *p, const struct exporter *x, const char *pattern) {
    int r = 0;
    if (!pattern || strcmp(pattern, "-") == 0)
        return add_to_stdout(p, x);
    bool together = false;
    for (int i = 0; i < p->out->events && r == 0 && !together; i++) {
        if (!outputs_want(p->out, x, &p->out->event[i]))
            continue;
        r = add_file(p, x, pattern, &p->out->event[i]);
        together = p->out->item[p->out->count - 1].all;
    }
    return r;
}

/* Finds text by its name, not by its place in the table. */
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

/* True if a file with this name may have the format: some endings stand for several formats. */
static bool may_hold(const char *path, const struct exporter *x) {
    static const char *const also[][2] = {
        {"text", "collapsed"}, {"text", "markdown"}, {"html", "tree"}, {"json", "speedscope"}};
    const struct exporter *promised = exporter_by_path(path);
    bool may = !promised || promised == x;
    for (size_t i = 0; i < sizeof also / sizeof also[0] && !may; i++)
        may = !strcmp(promised->name, also[i][0]) && !strcmp(x->name, also[i][1]);
    return may;
}

/* Returns the file for a format of -o that no file's name stands for. -1: none. */
static int file_for(const struct options *o, const struct exporter *x,
                    const struct exporter *const *chosen) {
    for (int f = 0; f < o->files; f++)
        if (!chosen[f] && may_hold(o->file[f], x))
            return f;
    /* As in async-profiler: with one file, -o sets its format, whatever its name is. */
    return o->files == 1 && !chosen[0] ? 0 : -1;
}

static int choose(const struct options *o, const struct exporter **chosen, struct err *e) {
    bool used[OPTIONS_OUTPUTS_MAX] = {false};
    for (int f = 0; f < o->files; f++) {
        const struct exporter *x = exporter_by_path(o->file[f]);
        int format = x ? find_format(o, x) : -1;
        if (format >= 0)
            used[format] = true;
        chosen[f] = format >= 0 ? x : NULL;
    }
    for (int i = 0; i < o->formats; i++) {
        int f = used[i] ? 0 : file_for(o, o->format[i], chosen);
        if (f < 0)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "-o %s: no file is left for it; give one more -f",
                               o->format[i]->name);
        if (!used[i])
            chosen[f] = o->format[i];
    }
    for (int f = 0; f < o->files; f++)
        if (!chosen[f])
            chosen[f] = exporter_by_path(o->file[f]);
    return 0;
}

/* As in async-profiler, a name with another ending gets text. A remark tells those who did not expect
 * that. */
static void tell_text(const char *path) {
    const char *name = strrchr(path, '/'), *dot = strrchr(name ? name : path, '.');
    if (dot && dot[1] && !strchr(dot, '%') && strcmp(path, "-") != 0)
        fprintf(stderr,
                "jtop-prof: %s: no format has the ending %s, so text is written; -o chooses "
                "another format\n",
                path, dot);
}

static int plan_files(const struct plan *p) {
    const struct options *o = p->o;
    const struct exporter *chosen[OPTIONS_OUTPUTS_MAX] = {0};
    int r = choose(o, chosen, p->e);
    for (int f = 0; f < o->files && r == 0; f++) {
        if (!chosen[f])
            tell_text(o->file[f]);
        r = add(p, chosen[f] ? chosen[f] : default_exporter(), o->file[f]);
    }
    return r;
}

static bool output_is_jfr_file(const struct output *item);

/* The JDK's recorder needs a JFR file, and a JVM that is not a recording. */
static int check_sync(const struct outputs *out, const struct options *o, bool replayed,
                      struct err *e) {
    bool any = false;
    int r = 0;
    for (int i = 0; i < out->count && o->jfr_sync && !replayed && r == 0; i++)
        if (output_is_jfr_file(&out->item[i])) {
            any = true;
            r = jfr_join_check(out->item[i].path.data, e);
        }
    if (!o->jfr_sync || (any && !replayed))
        return r;
    return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "--jfrsync %s",
                       replayed ? "needs a JVM that runs: this is a recording"
                                : "needs a file in JFR's format: -f FILE.jfr");
}

/* Two events must not be written to one file. */
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
        list_asked(out, o);
    int r = o->files ? plan_files(&p) : plan_stdout(&p);
    if (r == 0)
        r = check_distinct(out, e);
    if (r == 0 && !out->put)
        r = check_sync(out, o, replayed != NULL, e);
    if (r == 0 && o->session.record && !out->put)
        r = export_check_path(o->session.record, e);
    return r;
}

int outputs_check_input(const struct outputs *out, const char *input, struct err *e) {
    for (int i = 0; i < out->count; i++)
        if (out->item[i].path.data && output_is_input(out->item[i].path.data, input))
            return output_refuse_input(input, e);
    return 0;
}

int output_refuse_input(const char *input, struct err *e) {
    return err_exit_as(e, ERR_EXIT_ARGUMENT, EEXIST,
                       "%s is the input file: give the output another name", input);
}

bool output_is_input(const char *path, const char *input) {
    struct stat ours, theirs;
    return stat(path, &ours) == 0 && stat(input, &theirs) == 0 && S_ISREG(ours.st_mode) &&
           ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static bool output_is_jfr_file(const struct output *item) {
    return item->path.data && strcmp(item->exporter->name, "jfr") == 0;
}

struct writing {
    struct outputs *out;
    const struct options *o;
    struct report_view view;
};

/* True if there are reports of other events on stdout. */
static bool is_followed(const struct outputs *out, const struct output *item) {
    for (int i = 0; i < out->count; i++)
        if (!item->path.data && !out->item[i].path.data && out->item[i].event != item->event)
            return true;
    return false;
}

/* Takes one event for a file. */
static int ask(struct report_part *part, const struct writing *w, const struct output *item,
               const struct output_event *event) {
    part->query = (struct query){.event = event->event};
    report_query(&part->query, item->exporter, &w->o->export);
    output_select(w->o, &part->query);
    int r = report_take(part, &w->view);
    int events = 0;
    for (int i = 0; i < w->out->events; i++)
        events += !w->out->event[i].jfr_only;
    part->quality.trace = event->trace;
    part->quality.several = events > 1 && !item->all;
    part->quality.heading = is_followed(w->out, item);
    return r;
}

/* A report on its way to `put`. */
struct putting {
    const struct outputs *out;
    const struct export_options *o;
    const char *path;
    bool begun;
    int result; /* of `put`: 0 or -errno */
    struct err *e;
};

static int put_piece(struct putting *p, const char *data, size_t bytes, bool last) {
    const struct output_piece piece = {p->path, data, bytes, !p->begun, last};
    export_give_up(p->o);
    p->begun = true;
    p->result = p->out->put(p->out->put_arg, &piece, p->e);
    export_take(p->o);
    return p->result;
}

/* A whole report is passed on in pieces, too: they need little memory on their way. */
static int put_rest(struct putting *p, const struct text *t) {
    size_t at = 0;
    int r = 0;
    for (; r == 0 && t->len - at > TEXT_GATHERED; at += TEXT_GATHERED)
        r = put_piece(p, t->data + at, TEXT_GATHERED, false);
    return r == 0 ? put_piece(p, t->len ? t->data + at : "", t->len - at, true) : r;
}

static int gathered(void *arg, const char *data, size_t bytes) {
    return put_piece(arg, data, bytes, false);
}

/* Passes a report to `put` instead of writing a file. */
static int put(const struct writing *w, const struct output *item, const struct export_part *part,
               int parts, const struct export_options *o, struct err *e) {
    struct putting p = {.out = w->out, .o = o, .path = item->path.data, .e = e};
    struct text t = {.sink = item->exporter->whole ? NULL : gathered, .sink_arg = &p};
    struct err why;
    int r = report_write(&w->view, item->exporter, part, parts, o, &t, &why);
    if (r == 0)
        r = put_rest(&p, &t);
    else if (p.result < 0)
        r = p.result;
    else
        *e = why;
    text_free(&t);
    return r;
}

static int write_parts(const struct writing *w, const struct output *item,
                       const struct export_part *part, int parts, struct err *e) {
    struct export_options options = w->o->export;
    options.question = part[0].question;
    options.lock = &w->view.lock;
    if (growing_has(w->out->growing, item))
        return growing_end(w->out->growing, item, part, parts, &options, e);
    if (w->out->put)
        return put(w, item, part, parts, &options, e);
    return export_file_all(item->path.data, item->exporter, w->view.profile, part, parts, &options,
                           e);
}

static int write_one(const struct writing *w, struct output *item, struct err *e) {
    struct report_part a = {0};
    if (ask(&a, w, item, item->event) < 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
    const struct export_part part = {a.snapshot, &a.quality, &a.query};
    item->samples = a.snapshot->samples;
    int r = write_parts(w, item, &part, 1, e);
    snapshot_free(a.snapshot);
    return r;
}

static int write_together(const struct writing *w, struct output *item, struct err *e) {
    struct report_part *a = calloc(EVENT_KINDS, sizeof *a);
    struct export_part part[EVENT_KINDS] = {0};
    int parts = 0, r = a ? 0 : -ENOMEM;
    for (int i = 0; i < w->out->events && r == 0; i++) {
        if (!outputs_want(w->out, item->exporter, &w->out->event[i]))
            continue;
        r = ask(&a[parts], w, item, &w->out->event[i]);
        part[parts] = (struct export_part){a[parts].snapshot, &a[parts].quality, &a[parts].query};
        item->samples += a[parts].snapshot ? a[parts].snapshot->samples : 0;
        parts++;
    }
    r = r == 0 ? write_parts(w, item, part, parts, e)
               : err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
    for (int i = 0; i < parts; i++)
        snapshot_free(a[i].snapshot);
    free(a);
    return r;
}

/* Appends the recording of the JDK's own recorder to ours. */
static int append_sync(const struct outputs *out, struct err *e) {
    int r = 0;
    for (int i = 0; i < out->count && r == 0; i++)
        if (output_is_jfr_file(&out->item[i]) && !out->item[i].event->extra)
            r = jfr_sync_append(out->sync, out->item[i].path.data, e);
    return r;
}

int outputs_write(struct outputs *out, const struct options *o, struct session *s, struct err *e) {
    struct writing w = {.out = out, .o = o};
    int first = out->sync && !out->put ? jfr_sync_stop(out->sync, e) : 0;
    growing_stop(out->growing);
    report_open(&w.view, s);
    for (int i = 0; i < out->count; i++) {
        struct output *item = &out->item[i];
        struct err one = {0};
        if (i > 0) /* the profile may have grown while the one before was written */
            report_refresh(&w.view);
        int r = item->all ? write_together(&w, item, &one) : write_one(&w, item, &one);
        /* -EPIPE: the reader of stdout has ended (| head), which is no failure. */
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

/* Lists the files whose names are not as given, separated by ", ". */
static void outputs_renamed(const struct outputs *out, struct text *names) {
    for (int i = 0; i < out->count; i++)
        if (out->item[i].renamed)
            text_addf(names, "%s%s", names->len ? ", " : "", out->item[i].path.data);
}

static void outputs_say_renamed(const struct outputs *out) {
    struct text names = {0};
    outputs_renamed(out, &names);
    if (names.len)
        fprintf(stderr, "jtop-prof: one file per event: %s\n", names.data);
    text_free(&names);
}

void output_say_written(const struct options *o, const char *path, uint64_t samples) {
    struct text line = {0};
    struct stat st;
    if (o->quiet || !isatty(STDERR_FILENO) || !path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    text_addf(&line, "%s: ", path);
    if (samples != OUTPUT_SAMPLES_UNKNOWN) {
        human_count(&line, samples);
        text_add(&line, samples == 1 ? " sample, " : " samples, ");
    }
    human_weight(&line, (uint64_t)st.st_size, "bytes");
    if (!line.failed)
        fprintf(stderr, "%s\n", line.data);
    text_free(&line);
}

void outputs_say_written(const struct outputs *out, const struct options *o) {
    if (!isatty(STDERR_FILENO))
        outputs_say_renamed(out);
    for (int i = 0; i < out->count; i++)
        output_say_written(o, out->item[i].path.data, out->item[i].samples);
}

/* Returns after which time the profile is certainly over; 0: not known. In the background, only
 * --timeout counts. */
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

void output_select(const struct options *o, struct query *q) {
    q->include = o->include;
    q->includes = o->includes;
    q->exclude = o->exclude;
    q->excludes = o->excludes;
    q->simple_names = o->export.simple;
}
