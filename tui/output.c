#include "tui/output.h"

#include "core/profile/snapshot.h"
#include "tui/quality.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int add(struct outputs *out, const struct exporter *x, const char *pattern, int pid,
               struct err *e) {
    struct output *item = &out->item[out->count++];
    *item = (struct output){.exporter = x};
    if (!pattern || strcmp(pattern, "-") == 0)
        return 0;
    int r = export_path_expand(pattern, pid, 0, &item->path, e);
    if (r < 0)
        return r;
    return export_check_path(item->path.data, e);
}

/* Text by name, whatever the order of the table. */
static const struct exporter *default_exporter(void) {
    struct export_options unused = {0};
    const struct exporter *x = exporter_by_format("text", &unused);
    return x ? x : &exporters[0];
}

static int plan_stdout(struct outputs *out, const struct options *o, struct err *e) {
    int r = 0;
    if (!o->formats)
        return add(out, default_exporter(), NULL, 0, e);
    for (int i = 0; i < o->formats && r == 0; i++)
        r = add(out, o->format[i], NULL, 0, e);
    return r;
}

static int find_format(const struct options *o, const struct exporter *x) {
    for (int i = 0; i < o->formats; i++)
        if (o->format[i] == x)
            return i;
    return -1;
}

/* A file whose name promises a format that is not there would be opened by something else than a
 * person: say so before the profile, not after. */
static int check_promise(const char *path, struct err *e) {
    static const char *const others[] = {".html",  ".htm",  ".jfr",  ".pb.gz",
                                         ".pprof", ".otlp", ".json", ".md"};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t k = strlen(others[i]);
        if (n > k && strcasecmp(path + n - k, others[i]) == 0)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "-f %s: there is no exporter for %s files yet; try .svg, .collapsed "
                               "or .txt, or name the format with -o",
                               path, others[i]);
    }
    return 0;
}

static int plan_files(struct outputs *out, const struct options *o, int pid, struct err *e) {
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
            if (!x && check_promise(o->file[f], e) < 0)
                return -EINVAL;
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
        r = add(out, chosen[f], o->file[f], pid, e);
    return r;
}

int outputs_plan(struct outputs *out, const struct options *o, int pid, struct err *e) {
    *out = (struct outputs){.count = 0};
    int r = o->files ? plan_files(out, o, pid, e) : plan_stdout(out, o, e);
    if (r == 0 && o->session.record)
        r = export_check_path(o->session.record, e);
    return r;
}

static int write_one(const struct output *item, const struct options *o, struct profile *p,
                     const struct export_quality *quality, struct err *e) {
    /* Only the flame graph can be made from the leaves up; the others read from the root down. */
    struct query query = {.event = (int)o->session.event,
                          .inverted = o->export.reverse && strcmp(item->exporter->name, "svg") == 0,
                          .by_thread = o->export.threads,
                          .carriers = o->export.carriers,
                          .tiers = o->export.annotate,
                          .tree = true};
    struct snapshot *snap = snapshot_take(p, &query);
    if (!snap)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for the report");
    int r = export_file(item->path.data, item->exporter, p, snap, quality, &o->export, e);
    snapshot_free(snap);
    return r;
}

int outputs_write(const struct outputs *out, const struct options *o, struct session *s,
                  struct err *e) {
    struct session_status st;
    struct export_quality quality;
    struct jvm j;
    struct quality_text text;
    session_status(s, &st);
    session_jvm(s, &j);
    quality_describe(&quality, &st, &j, &text);
    struct profile *p = session_lock(s);
    int first = 0;
    for (int i = 0; i < out->count; i++) {
        struct err one = {0};
        int r = write_one(&out->item[i], o, p, &quality, &one);
        /* -EPIPE: who reads our stdout has seen enough (| head), and that is no failure. */
        if (r < 0 && r != -EPIPE && first == 0) {
            first = r;
            *e = one;
        }
    }
    session_unlock(s);
    return first;
}

void outputs_free(struct outputs *out) {
    for (int i = 0; i < out->count; i++)
        text_free(&out->item[i].path);
    out->count = 0;
}
