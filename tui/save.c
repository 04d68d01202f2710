#include "tui/save.h"

#include "core/export/export.h"
#include "tui/quality.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The JVM chose its name: it must stay a name and not become a path. */
static void file_name(const struct jvm *j, time_t now, char *out, size_t size) {
    char name[64];
    size_t n = 0;
    for (const char *s = j->name; *s && n + 1 < sizeof name; s++)
        name[n++] = isalnum((unsigned char)*s) || strchr("._-", *s) ? *s : '_';
    name[n] = '\0';
    char when[32] = "";
    struct tm tm;
    if (localtime_r(&now, &tm))
        strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm);
    snprintf(out, size, "jtop-prof-%s-%d-%s.svg", name, (int)j->pid, when);
}

/* "/where/we/are/file" where that fits. */
static void whole_path(const char *file, char *out, size_t size) {
    char here[512];
    if (!getcwd(here, sizeof here) || strlen(here) + 1 + strlen(file) >= size)
        snprintf(out, size, "%s", file);
    else
        snprintf(out, size, "%s/%s", strcmp(here, "/") != 0 ? here : "", file);
}

/* Says in the title what the picture leaves out and whose the samples are; NULL where it is of
 * everything as usual. */
static const char *describe_question(const struct model *m, char *out, size_t size) {
    const struct model_question *q = &m->question;
    bool zoomed = model_zoomed(q), carriers = q->carriers && !q->virtual_id;
    char name[256];
    if (!zoomed && !q->filter[0] && !carriers)
        return NULL;
    snprintf(out, size, "%s%s%s%s%s%s", m->status.event, zoomed ? ", thread " : "",
             zoomed ? model_zoom_name(m, name, sizeof name) : "", q->filter[0] ? ", filter " : "",
             q->filter, carriers ? ", by carrier" : "");
    return out;
}

int save_svg(const struct model *m, enum live_view view, time_t now, char *path, size_t size,
             struct err *e) {
    char file[160], title[512];
    struct quality_text text;
    struct export_quality quality;
    struct export_options options = {.threads = view == LIVE_THREADS ||
                                                (view == LIVE_TREE && m->question.by_thread),
                                     .carriers = m->question.carriers,
                                     .simple = m->style & NAME_SIMPLE,
                                     .reverse = view == LIVE_TREE && m->question.inverted,
                                     .title = describe_question(m, title, sizeof title)};
    const struct exporter *x = exporter_by_format("svg", &options);
    if (!x)
        return err_set(e, ENOTSUP, "this build writes no SVG");
    file_name(&m->jvm, now, file, sizeof file);
    whole_path(file, path, size);
    quality_describe(&quality, &m->status, &m->jvm, &text);
    int err = export_check_path(file, e);
    if (err)
        return err;
    struct profile *p = m->source.lock(m->source.arg);
    struct snapshot *owned;
    const struct snapshot *s = model_picture(m, p, options.threads, &owned);
    err = s ? export_file(file, x, p, s, &quality, &options, e)
            : err_set(e, ENOMEM, "no memory for the picture");
    m->source.unlock(m->source.arg);
    snapshot_free(owned);
    return err;
}
