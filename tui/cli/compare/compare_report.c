#include "tui/cli/compare/compare_report.h"

#include "core/export/formats.h"
#include "core/export/human.h"
#include "core/profile/snapshot/chance.h"
#include "core/profile/table/frame_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 200u

static uint32_t rows_shown(const struct compare_report *r) {
    uint32_t most = r->o->flat ? r->o->flat : ROWS;
    return r->rows->count < most ? r->rows->count : most;
}

static void name_of(const struct compare_report *r, uint32_t method, char *out, size_t size) {
    frame_name(method_table_get(profile_methods_const(r->sides->profile), method),
               formats_name_style(r->o) | NAME_DOTTED, out, size);
}

/* ---- used by several formats ---- */

static void add_per_second(struct text *out, const struct compare_side *s) {
    if (!s->elapsed_ns) {
        text_add(out, "duration not known");
        return;
    }
    double seconds = (double)s->elapsed_ns / 1e9;
    human_weight(out, (uint64_t)((double)s->weight / seconds), s->unit);
    text_add(out, " a second for ");
    human_weight(out, s->elapsed_ns, "ns");
}

static void add_side(struct text *out, const struct compare_report *r, int i) {
    const struct compare_side *s = &r->sides->side[i];
    if (s->counted) {
        human_count(out, s->samples);
        text_addf(out, " sample%s", s->samples == 1 ? "" : "s");
    } else {
        text_add(out, "no sample counts");
    }
    if (strcmp(s->event, "samples") != 0) {
        text_addf(out, s->counted ? " of %s, " : "; %s, ", s->event);
        human_weight(out, s->weight, s->unit);
    }
    text_add(out, ": ");
    add_per_second(out, s);
}

static void add_verdict(struct text *out, const struct compare_report *r) {
    if (!compare_sides_counted(r->sides))
        text_addf(out, "%" PRIu32 " methods, none marked as changed", r->rows->count);
    else
        text_addf(out, "%" PRIu32 " of %" PRIu32 " methods changed by more than chance",
                  r->rows->changed, r->rows->count);
}

static void add_test(struct text *out, const struct compare_report *r) {
    if (!compare_sides_counted(r->sides)) {
        text_add(out, "without sample counts, a change cannot be tested for chance");
        return;
    }
    text_addf(out,
              "two-proportion z-test of the samples (Fisher's where they are few), corrected for "
              "many comparisons by "
              "Benjamini-Hochberg at %g%%",
              100 * CHANCE_FALSE);
}

/* Writes the samples of one side; "-" if they are not counted. */
static const char *samples_of(const struct compare_report *r, const struct compare_row *row,
                              int side, char out[24]) {
    if (r->sides->side[side].counted)
        snprintf(out, 24, "%" PRIu64, row->samples[side]);
    else
        snprintf(out, 24, "-");
    return out;
}

/* Writes the ratio: "x1.50", "new" or "gone". */
static void ratio_of(const struct compare_row *r, char out[16]) {
    if (r->share[0] <= 0)
        snprintf(out, 16, "%s", r->samples[0] ? "-" : "new");
    else if (r->share[1] <= 0)
        snprintf(out, 16, "%s", r->samples[1] ? "-" : "gone");
    else if (r->share[1] / r->share[0] < 1000)
        snprintf(out, 16, "x%.2f", r->share[1] / r->share[0]);
    else
        snprintf(out, 16, "x1000+");
}

static double points(const struct compare_row *r) {
    double p = 100 * (r->share[1] - r->share[0]);
    return p > -0.005 && p < 0.005 ? 0 : p; /* no -0.00 */
}

static void add_rest(struct text *out, const struct compare_report *r, uint32_t shown) {
    if (shown < r->rows->count)
        text_addf(out, "and %" PRIu32 " more (-o flat=N shows N)\n", r->rows->count - shown);
}

/* ---- text ---- */

void compare_text(struct text *out, const struct compare_report *r) {
    char name[4096], ratio[16], samples[SIDES][24];
    uint32_t shown = rows_shown(r);
    text_addf(out, "--- Difference ---\n");
    for (int i = 0; i < SIDES; i++) {
        text_addf(out, "%c: %s: ", 'A' + i, r->sides->side[i].path);
        add_side(out, r, i);
        text_add(out, "\n");
    }
    text_add(out, "Self is a share of each profile, because the profiles may differ in length.\n");
    add_verdict(out, r);
    text_add(out, compare_sides_counted(r->sides) ? ", marked *:\n" : ":\n");
    add_test(out, r);
    text_add(out, ".\n\n   self A   self B    change     ratio   samples A   samples B  method\n"
                  "  -------  -------  --------  --------  ----------  ----------  ------\n");
    for (uint32_t i = 0; i < shown; i++) {
        const struct compare_row *row = &r->rows->row[i];
        name_of(r, row->method, name, sizeof name);
        ratio_of(row, ratio);
        text_addf(out, "  %6.2f%%  %6.2f%%  %+7.2f%c  %8s  %10s  %10s  %s\n", 100 * row->share[0],
                  100 * row->share[1], points(row), row->changed ? '*' : ' ', ratio,
                  samples_of(r, row, SIDE_A, samples[0]), samples_of(r, row, SIDE_B, samples[1]),
                  name);
    }
    add_rest(out, r, shown);
}

/* ---- markdown ---- */

/* Appends a name in back quotes inside a table: neither of these may end early. */
static void add_code(struct text *out, const char *name) {
    text_add(out, "`");
    for (; *name; name++) {
        if (*name == '|')
            text_add(out, "\\|");
        else
            text_add_n(out, *name == '`' ? "'" : name, 1);
    }
    text_add(out, "`");
}

void compare_markdown(struct text *out, const struct compare_report *r) {
    char name[4096], ratio[16], samples[SIDES][24];
    uint32_t shown = rows_shown(r);
    text_addf(out, "# Difference in %s\n\n", r->sides->side[SIDE_B].event);
    for (int i = 0; i < SIDES; i++) {
        text_addf(out, "- %c: ", 'A' + i);
        add_code(out, r->sides->side[i].path);
        text_add(out, ": ");
        add_side(out, r, i);
        text_add(out, "\n");
    }
    text_add(out, "\n**");
    add_verdict(out, r);
    text_add(out, "** (");
    add_test(out, r);
    text_add(out, "). Self as a share of each profile:\n\n"
                  "| self A | self B | change | | ratio | samples A | samples B | method |\n"
                  "|---:|---:|---:|---|---:|---:|---:|---|\n");
    for (uint32_t i = 0; i < shown; i++) {
        const struct compare_row *row = &r->rows->row[i];
        name_of(r, row->method, name, sizeof name);
        ratio_of(row, ratio);
        text_addf(out, "| %.2f%% | %.2f%% | %+.2f | %s | %s | %s | %s | ", 100 * row->share[0],
                  100 * row->share[1], points(row), row->changed ? "changed" : "", ratio,
                  samples_of(r, row, SIDE_A, samples[0]), samples_of(r, row, SIDE_B, samples[1]));
        add_code(out, name);
        text_add(out, " |\n");
    }
    text_add(out, shown < r->rows->count ? "\n" : "");
    add_rest(out, r, shown);
}

/* ---- collapsed ---- */

struct stacks {
    const char *at; /* in a text with one line per stack, sorted by the stacks' bytes */
    size_t bytes;   /* length of the stack; 0: there are no more */
    const char *count;
    size_t count_bytes;
};

static void next_stack(struct stacks *s) {
    const char *line = s->count ? s->count + s->count_bytes + 1 : s->at;
    const char *end = strchr(line, '\n');
    s->at = line;
    s->bytes = 0;
    if (!end)
        return;
    const char *space = memrchr(line, ' ', (size_t)(end - line));
    s->count = space + 1;
    s->count_bytes = (size_t)(end - s->count);
    s->bytes = (size_t)(space - line);
}

/* Compares in the exporter's order: frame by frame, so a stack comes before its extensions. */
static int order(const struct stacks *a, const struct stacks *b) {
    size_t n = a->bytes < b->bytes ? a->bytes : b->bytes;
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a->at[i], y = (unsigned char)b->at[i];
        if (x == y)
            continue;
        /* A name that ends comes before one that continues. */
        if (x == ';' || y == ';')
            return x == ';' ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* Appends the stack of `s` with its counts in A and in B; NULL: no such stack. */
static void add_both(struct text *out, const struct stacks *s, const struct stacks *a,
                     const struct stacks *b) {
    text_add_n(out, s->at, s->bytes);
    text_add(out, " ");
    text_add_n(out, a ? a->count : "0", a ? a->count_bytes : 1);
    text_add(out, " ");
    text_add_n(out, b ? b->count : "0", b ? b->count_bytes : 1);
    text_add(out, "\n");
}

int compare_collapsed(struct text *out, const struct compare_report *r) {
    struct text t[SIDES] = {{0}};
    struct export_options unused = {0};
    const struct exporter *x = exporter_by_format("collapsed", &unused);
    const struct export_quality q = {.unit = "total",
                                     .uncounted = !compare_sides_counted(r->sides)};
    int err = 0;
    for (int i = 0; i < SIDES && !err; i++) {
        text_add(&t[i], "");
        err = x->write(&t[i], r->sides->profile, r->snapshot[i], &q, r->o);
    }
    if (!err && !t[0].failed && !t[1].failed) {
        struct stacks a = {.at = t[0].data}, b = {.at = t[1].data};
        next_stack(&a);
        next_stack(&b);
        while (a.bytes || b.bytes) {
            int c = !a.bytes ? 1 : !b.bytes ? -1 : order(&a, &b);
            add_both(out, c <= 0 ? &a : &b, c <= 0 ? &a : NULL, c >= 0 ? &b : NULL);
            if (c <= 0)
                next_stack(&a);
            if (c >= 0)
                next_stack(&b);
        }
    }
    err = err || t[0].failed || t[1].failed ? -ENOMEM : 0;
    text_free(&t[0]);
    text_free(&t[1]);
    return err;
}
