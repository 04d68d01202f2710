#include "tui/cli/compare/compare.h"

#include "core/profile/snapshot/diff.h"
#include "tui/cli/compare/compare_report.h"
#include "tui/cli/compare/compare_rows.h"
#include "tui/cli/compare/compare_sides.h"
#include "tui/cli/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory to compare the profiles");
}

/* ---- planning of the files ---- */

struct plan {
    const struct exporter *exporter[OPTIONS_OUTPUTS_MAX];
    struct text path[OPTIONS_OUTPUTS_MAX]; /* data NULL: stdout */
    int count;
};

static int check_format(const struct exporter *x, struct err *e) {
    char can[160] = "";
    if (x->diff)
        return 0;
    for (const struct exporter *k = exporters; k->name; k++)
        if (k->diff)
            snprintf(can + strlen(can), sizeof can - strlen(can), "%s%s", can[0] ? ", " : "",
                     k->name);
    return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                       "diff: a difference cannot be written as %s; use one of %s", x->name, can);
}

static const struct exporter *text_exporter(void) {
    struct export_options unused = {0};
    return exporter_by_format("text", &unused);
}

static bool is_asked(const struct options *o, const struct exporter *x) {
    for (int i = 0; i < o->formats; i++)
        if (o->format[i] == x)
            return true;
    return false;
}

static int add_output(struct plan *p, const struct exporter *x, const char *pattern,
                      struct err *e) {
    const struct export_path of = {.event = "diff"};
    struct text *path = &p->path[p->count];
    int r = check_format(x, e);
    p->exporter[p->count] = x;
    if (r == 0 && pattern && strcmp(pattern, "-") != 0) {
        r = export_path_expand(pattern, &of, path, e);
        if (r == 0)
            r = path->failed ? no_memory(e) : export_check_path(path->data, e);
    }
    p->count++;
    return r;
}

/* A file's format is that of its extension if that is one of -o, or if there is no -o; otherwise
 * the next format of -o, and after those text. */
static int plan(struct plan *p, const struct options *o, struct err *e) {
    int next = 0, r = 0;
    for (int i = 0; i < o->formats && !o->files && r == 0; i++)
        r = add_output(p, o->format[i], NULL, e);
    if (!o->formats && !o->files)
        r = add_output(p, text_exporter(), NULL, e);
    for (int i = 0; i < o->files && r == 0; i++) {
        const struct exporter *x = exporter_by_path(o->file[i]);
        if (!x && !o->formats && strcmp(o->file[i], "-") != 0)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "-f %s: its name shows no format; give it with -o, or use one of "
                               ".txt, .md, .html, .svg or .collapsed",
                               o->file[i]);
        if (!x || (o->formats && !is_asked(o, x)))
            x = next < o->formats ? o->format[next++] : text_exporter();
        r = add_output(p, x, o->file[i], e);
    }
    for (int i = 0; i < p->count && r == 0; i++)
        for (int k = 0; k < SIDES && r == 0; k++)
            if (p->path[i].data && output_is_input(p->path[i].data, o->operand[k]))
                r = output_refuse_input(o->operand[k], e);
    return r;
}

/* ---- writing ---- */

/* Formats B's flame graph, coloured by the difference to A. */
static int format_graph(struct text *out, const struct exporter *x,
                        const struct compare_report *report, struct err *e) {
    const struct compare_sides *c = report->sides;
    char title[640], jvm[640];
    struct export_options options = *report->o;
    struct query q[SIDES];
    struct snapshot *s[SIDES] = {0};
    int r = 0;
    for (int i = 0; i < SIDES; i++) {
        q[i] = (struct query){
            .event = i, .tree = true, .inverted = options.reverse, .tiers = options.annotate};
        s[i] = snapshot_take(c->profile, &q[i]);
    }
    struct diff *d = s[0] && s[1] ? diff_new(s[SIDE_A], s[SIDE_B]) : NULL;
    snprintf(title, sizeof title, "Difference in %s", c->side[SIDE_B].event);
    snprintf(jvm, sizeof jvm, "%.300s compared with %.300s", c->side[SIDE_B].path,
             c->side[SIDE_A].path);
    const struct export_quality quality = {.event = c->side[SIDE_B].event,
                                           .unit = c->side[SIDE_B].unit,
                                           .interval = c->side[SIDE_B].interval,
                                           .elapsed_ns = c->side[SIDE_B].elapsed_ns,
                                           .jvm = jvm,
                                           .uncounted = !compare_sides_counted(c)};
    if (d && quality.uncounted)
        diff_without_counts(d);
    options.question = &q[SIDE_B];
    options.diff = d;
    if (!options.title)
        options.title = title;
    r = d ? export_format(out, x, c->profile, s[SIDE_B], &quality, &options, e) : no_memory(e);
    diff_free(d);
    snapshot_free(s[0]);
    snapshot_free(s[1]);
    return r;
}

static int format_one(struct text *out, const struct exporter *x,
                      const struct compare_report *report, struct err *e) {
    if (strcmp(x->name, "svg") == 0 || strcmp(x->name, "html") == 0)
        return format_graph(out, x, report, e);
    if (strcmp(x->name, "collapsed") == 0) {
        if (compare_collapsed(out, report) < 0)
            return no_memory(e);
    } else if (strcmp(x->name, "markdown") == 0) {
        compare_markdown(out, report);
    } else {
        compare_text(out, report);
    }
    text_add(out, "");
    return out->failed ? no_memory(e) : 0;
}

/* If a file fails, the others are still written. */
static int write_all(const struct plan *p, const struct compare_report *report, struct err *e) {
    int first = 0;
    for (int i = 0; i < p->count; i++) {
        struct text t = {0};
        struct err one = {0};
        int r = format_one(&t, p->exporter[i], report, &one);
        if (r == 0)
            r = export_write(p->path[i].data, &t, &one);
        /* -EPIPE: the reader of stdout has ended, which is no failure. */
        if (r < 0 && r != -EPIPE && first == 0) {
            first = r;
            *e = one;
        }
        text_free(&t);
    }
    return first;
}

static int compare(const struct compare_sides *c, const struct plan *p, const struct options *o,
                   struct err *e) {
    struct export_options names;
    struct compare_rows rows = {0};
    struct snapshot *s[SIDES];
    compare_export_options(&names, o);
    for (int i = 0; i < SIDES; i++)
        s[i] = snapshot_take(c->profile,
                             &(struct query){.event = i, .tree = true, .tiers = names.annotate});
    const struct compare_report report = {
        .sides = c, .snapshot = {s[0], s[1]}, .rows = &rows, .o = &names};
    int r = s[0] && s[1] &&
                    compare_rows_make(s[SIDE_A], s[SIDE_B], compare_sides_counted(c), &rows) == 0
                ? write_all(p, &report, e)
                : no_memory(e);
    compare_rows_free(&rows);
    snapshot_free(s[0]);
    snapshot_free(s[1]);
    return r;
}

int compare_files(const struct options *o, struct err *e) {
    if (o->operands != SIDES)
        return err_set(e, EINVAL,
                       "diff: two files are required, and %d %s given: jtop-prof diff A B",
                       o->operands, o->operands == 1 ? "was" : "were");
    struct plan p = {.count = 0};
    struct compare_sides sides = {0};
    int r = plan(&p, o, e);
    if (r == 0)
        r = compare_sides_read(&sides, o, e);
    if (r == 0)
        r = compare(&sides, &p, o, e);
    compare_sides_free(&sides);
    for (int i = 0; i < p.count; i++)
        text_free(&p.path[i]);
    return r;
}
