#include "tui/screen/save.h"

#include "core/export/export.h"
#include "core/report/quality.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Copies a name safely: the JVM chose it, and it must not become a path. */
static void plain_name(const char *s, char *out, size_t size) {
    size_t n = 0;
    for (; *s && n + 1 < size; s++)
        out[n++] = isalnum((unsigned char)*s) || strchr("._-", *s) ? *s : '_';
    out[n] = '\0';
}

/* Makes a file's name. CPU time as the event is left out. */
static void file_name(const struct model *m, int of_event, const char *ending, time_t now,
                      char *out, size_t size) {
    char name[64], event[32] = "";
    plain_name(m->jvm.name, name, sizeof name);
    if (of_event != WIRE_EVENT_CPU)
        plain_name(model_event_name(m, of_event), event, sizeof event);
    char when[32] = "";
    struct tm tm;
    if (localtime_r(&now, &tm))
        strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm);
    snprintf(out, size, "jtop-prof-%s-%d-%s%s%s%s", name, (int)m->jvm.pid, event,
             event[0] ? "-" : "", when, ending);
}

/* Writes "/where/we/are/file" if that fits, otherwise `file`. */
static void whole_path(const char *file, char *out, size_t size) {
    char here[512];
    if (!getcwd(here, sizeof here) || strlen(here) + 1 + strlen(file) >= size)
        snprintf(out, size, "%s", file);
    else
        snprintf(out, size, "%s/%s", strcmp(here, "/") != 0 ? here : "", file);
}

/* Adds the window, in seconds of the profile; the first second is 1. */
static void add_window(struct text *out, const struct model *m) {
    const struct model_window w = model_window(m);
    uint64_t first = m->first_second;
    bool all = !w.from || (m->span_is_default && !m->mark_second && w.from <= first);
    if (all && !(m->held && m->scrubbed))
        return;
    if (w.from && w.from == m->mark_second)
        text_add(out, ", since the mark");
    else if (w.to)
        text_addf(out, ", seconds %" PRIu64 " to %" PRIu64, w.from > first ? w.from - first + 1 : 1,
                  w.to > first ? w.to - first + 1 : 1);
    else
        text_addf(out, ", the last %" PRIu64 " s", m->span);
}

static void add_baseline(struct text *out, const struct model *m) {
    uint64_t now = m->held ? m->held_second : m->newest_second;
    uint64_t apart = now > m->baseline_second ? now - m->baseline_second : m->baseline_second - now;
    text_addf(out, ", compared with %" PRIu64 " s %s", apart,
              now >= m->baseline_second ? "before" : "after");
}

/* Describes in the title what the picture leaves out, and to which threads the samples belong.
 * NULL: it shows everything as usual. */
static const char *describe_question(const struct model *m, bool compared, struct text *out) {
    const struct model_question *q = &m->question;
    char name[MODEL_NAME_SIZE];
    text_add(out, model_event_name(m, q->event));
    size_t usual = out->len;
    if (m->status.engine[q->event].biased)
        text_add(out, ", BIASED: at safepoints only");
    if (model_hides_idle(q))
        text_add(out, ", idle hidden");
    if (m->snapshot && m->snapshot->folds_natives)
        text_add(out, ", native folded");
    if (model_zoomed(q))
        text_addf(out, ", thread %s", model_zoom_name(m, name, sizeof name));
    if (q->with_method)
        text_addf(out, ", %s %s", q->from_method ? "from method" : "method",
                  model_method_name(m, q->method, name, sizeof name));
    if (q->package[0])
        text_addf(out, ", package %s", q->package);
    if (q->filter[0])
        text_addf(out, ", filter %s", q->filter);
    if (q->carriers && !q->virtual_id)
        text_add(out, ", by carrier");
    add_window(out, m);
    if (compared)
        add_baseline(out, m);
    return out->len > usual && !out->failed ? out->data : NULL;
}

/* Makes the query of the picture: by thread or from the leaves if the screen is, and the format can
 * show it. */
static struct query query_for(const struct model *m, enum live_view view, bool graph) {
    bool tree = view == LIVE_TREE || view == LIVE_FLAME;
    struct query q = model_query(m);
    q.tree = true;
    q.locks = q.lines = false;
    q.spark_cells = 0;
    q.by_thread = view == LIVE_THREADS || (tree && m->question.by_thread);
    q.inverted = graph && tree && m->question.inverted;
    return q;
}

/* Returns the snapshot to write. A held answer is used as it is, if it fits; *owned is NULL
 * then. */
static const struct snapshot *take_picture(const struct model *m, struct profile *p,
                                           const struct query *q, struct snapshot **owned) {
    const struct model_question *asked = &m->asked;
    *owned = NULL;
    if (m->held && m->other && !m->pruned && q->by_thread == (asked->tree && asked->by_thread) &&
        q->from_method == (asked->from_method && asked->with_method))
        return q->inverted == asked->inverted ? m->snapshot : m->other;
    return *owned = snapshot_take(p, q);
}

static bool is_compared(const struct model *m) {
    return m->baseline && model_same_event(&m->baseline_asked, &m->question);
}

/* Returns the baseline as a tree of the same kind. If it is kept as another kind, it is taken again
 * and *owned is set. */
static const struct snapshot *take_baseline(const struct model *m, struct profile *p,
                                            const struct query *q, struct snapshot **owned) {
    const struct model_question *asked = &m->baseline_asked;
    *owned = NULL;
    if (q->by_thread == (asked->tree && asked->by_thread) &&
        q->from_method == (asked->from_method && asked->with_method))
        return q->inverted ? m->baseline_inverted : m->baseline;
    struct query b = *q;
    b.tid = asked->tid;
    b.virtual_id = asked->virtual_id;
    b.carriers = asked->carriers;
    b.filter = asked->filter;
    b.package = asked->package;
    b.with_method = asked->with_method || q->from_method;
    b.method = q->from_method ? q->method : asked->method;
    b.from_second = asked->from_second;
    b.to_second = asked->to_second ? asked->to_second : m->baseline_second;
    return *owned = snapshot_take(p, &b);
}

void save_path(const struct model *m, const char *ending, time_t now, char *path, size_t size) {
    char file[160];
    file_name(m, m->question.event, ending, now, file, sizeof file);
    whole_path(file, path, size);
}

/* Formats the picture. The caller holds the profile's lock. */
static int format_picture(const struct model *m, struct profile *p, struct text *out,
                          const struct exporter *x, const struct query *q, bool compared,
                          struct export_options *options, struct err *e) {
    struct quality_text text;
    struct export_quality quality;
    struct snapshot *owned = NULL, *owned_baseline = NULL;
    const struct snapshot *s = take_picture(m, p, q, &owned), *before = NULL;
    struct diff *diff = NULL;
    int err = s ? 0 : -ENOMEM;
    if (!err && compared) {
        before = take_baseline(m, p, q, &owned_baseline);
        diff = before ? diff_new(before, s) : NULL;
        err = diff ? 0 : -ENOMEM;
    }
    quality_of_event(&quality, &m->status, m->question.event, &m->jvm, &text);
    options->question = q;
    options->diff = diff;
    err = err ? err_set(e, ENOMEM, "no memory for the picture")
              : export_format(out, x, p, s, &quality, options, e);
    diff_free(diff);
    snapshot_free(owned);
    snapshot_free(owned_baseline);
    return err;
}

int save_as(const struct model *m, enum live_view view, const char *format, time_t now, char *path,
            size_t size, struct err *e) {
    char file[160];
    struct export_options options = {.simple = m->style & NAME_SIMPLE,
                                     .total = m->question.event != WIRE_EVENT_CPU};
    const struct exporter *x = exporter_by_format(format, &options);
    if (!x)
        return err_set(e, ENOTSUP, "this build cannot write %s", format);
    file_name(m, m->question.event, x->extension[0], now, file, sizeof file);
    whole_path(file, path, size);
    int err = export_check_path(file, e);
    if (err)
        return err;
    bool graph = !strcmp(x->name, "svg") || !strcmp(x->name, "html");
    bool compared = graph && is_compared(m);
    struct text title = {0}, out = {0};
    struct query q = query_for(m, view, graph);
    options.threads = q.by_thread;
    options.carriers = q.carriers;
    options.reverse = q.inverted;
    options.title = describe_question(m, compared, &title);
    struct profile *p = m->source.lock(m->source.arg);
    err = format_picture(m, p, &out, x, &q, compared, &options, e);
    m->source.unlock(m->source.arg);
    if (!err)
        err = export_write(file, &out, e);
    text_free(&out);
    text_free(&title);
    return err;
}

int save_text(const struct model *m, const char *ending, const char *text, size_t bytes, time_t now,
              char *path, size_t size, struct err *e) {
    char file[160];
    struct text out = {0};
    file_name(m, WIRE_EVENT_CPU, ending, now, file, sizeof file);
    whole_path(file, path, size);
    int err = export_check_path(file, e);
    if (err)
        return err;
    text_add_n(&out, text, bytes);
    err = out.failed ? err_set(e, ENOMEM, "no memory for the file") : export_write(file, &out, e);
    text_free(&out);
    return err;
}
