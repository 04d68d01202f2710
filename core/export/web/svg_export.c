/*
 * Exports an interactive flame graph: one SVG file that is also complete without its script, for
 * <img> and print.
 */
#include "core/export/web/svg.h"

#include "core/export/caption.h"
#include "core/export/formats.h"
#include "core/export/frame_walk.h"
#include "core/export/human.h"
#include "core/export/svg_text.h"
#include "core/export/frame_change.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATOR " \xc2\xb7 "

/* Adds text from caption.c, escaped for the SVG. */
static void add_caption(struct text *out, const struct text *plain) {
    out->failed |= plain->failed;
    if (plain->data)
        svg_text_add(out, plain->data);
}

static void add_title(struct text *out, const struct svg_page *g) {
    struct text plain = {0};
    caption_title(&plain, g->q, g->o);
    add_caption(out, &plain);
    text_free(&plain);
}

static void add_subtitle(struct text *out, const struct svg_page *g) {
    struct text plain = {0};
    caption_subtitle(&plain, g->s, g->q, g->o);
    add_caption(out, &plain);
    text_free(&plain);
}

static void add_style(struct text *out, const struct svg_page *g) {
    text_add(out, "<style>\n");
    text_add(out, svg_style_css);
    for (unsigned i = 0; g->o->diff && i < CHANGE_SHADES; i++)
        text_addf(out, ".d%u rect{fill:#%06x}\n", i, frame_change_colour(i));
    for (int c = 0; c < FRAME_CLASSES; c++) {
        if (c != CLASS_ERROR && (!g->used[c] || g->o->diff))
            continue;
        for (unsigned shade = 0; shade < FRAME_SHADES; shade++)
            text_addf(out, ".%c%u rect{fill:#%06x}\n", frame_class_looks[c].letter, shade,
                      frame_class_colour((enum frame_class)c, shade));
    }
    text_add(out, "</style>\n");
}

/* Writes everything from the XML declaration to the first frame. */
static void svg_page_begin(struct text *out, const struct svg_page *g) {
    unsigned height = svg_page_height(g);
    text_addf(out,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
              "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"%u\" "
              "height=\"%u\" viewBox=\"0 0 %u %u\" data-fluid=\"%d\" data-up=\"%d\" "
              "data-total=\"%d\" data-unit=\"",
              g->width, height, g->width, height, !g->o->width, !g->o->inverted, g->o->total);
    svg_text_add(out, g->unit);
    text_add(out, "\">\n<title>");
    add_title(out, g);
    if (g->q->jvm) {
        text_add(out, SEPARATOR);
        svg_text_add(out, g->q->jvm);
    }
    text_add(out, "</title>\n<desc>Flame graph made by jtop-prof " JTOP_VERSION "</desc>\n");
    add_style(out, g);
    text_add(out, "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n");
    text_addf(out, "<svg class=\"frames\" x=\"%d\" width=\"%u\" height=\"%u\" font-size=\"%u\">\n",
              SVG_MARGIN, g->width - 2 * SVG_MARGIN, height - SVG_LEGEND,
              g->row > 16 ? 12 : g->row - 4);
}

static void add_to_legend(struct text *out, uint32_t colour, const char *label) {
    text_addf(out, "<tspan fill=\"#%06x\">\xe2\x96\xa0</tspan> %s\xe2\x80\x83", colour, label);
}

static void add_legend(struct text *out, const struct svg_page *g) {
    text_addf(out, "<text class=\"legend\" x=\"%d\" y=\"%u\">", SVG_MARGIN,
              svg_page_height(g) - 11);
    if (g->o->diff) {
        add_to_legend(out, frame_change_colour(CHANGE_SHADES - 1), "+ more than before");
        add_to_legend(out, frame_change_colour(0), "- less");
        add_to_legend(out, frame_change_colour(CHANGE_SHADES / 2), "change may be chance");
    }
    for (int c = 0; c < FRAME_CLASSES && !g->o->diff; c++) {
        if (g->used[c])
            add_to_legend(out, frame_class_colour((enum frame_class)c, FRAME_SHADES / 2),
                          frame_class_looks[c].label);
    }
    if (!g->s->samples)
        text_add(out, "no samples");
    else if (g->hidden > 0)
        text_addf(out, "frames under %.2g%% are not drawn", g->hidden);
    text_add(out, "</text>\n");
}

/* Writes everything after the last frame. */
static void svg_page_end(struct text *out, const struct svg_page *g) {
    text_add(out, "</svg>\n");
    add_legend(out, g);
    text_addf(out,
              "<g class=\"head\"><rect class=\"back\" width=\"100%%\" height=\"%d\"/>\n"
              "<text class=\"title\" x=\"%d\" y=\"28\">",
              SVG_HEAD - 4, SVG_MARGIN);
    add_title(out, g);
    text_addf(out, "</text>\n<text class=\"subtitle\" x=\"%d\" y=\"50\">", SVG_MARGIN);
    add_subtitle(out, g);
    text_add(out, "</text>\n</g>\n<script><![CDATA[\n");
    text_add(out, svg_script_js);
    text_add(out, "]]></script>\n</svg>\n");
}

/*
 * A browser stays fast with some ten thousand frames, and nobody can see frames narrower than a
 * fraction of a pixel. By default, frames narrower than SVG_NARROW percent are left out. If more
 * than SVG_FRAMES remain, the limit rises, but at most to SVG_NARROW_MOST percent: a wide frame is
 * never left out.
 */
#define SVG_FRAMES 20000u
#define SVG_NARROW (0.1 / 1920 * 100)
#define SVG_NARROW_MOST 0.1
#define SVG_THIN_OUT_AT 400000u /* frames in memory at which the limit is checked */

#define COLUMN 0.602 /* width of a monospaced character, relative to the font size */

struct svg_frame {
    uint64_t left, value; /* in the counter that sets the widths */
    uint64_t samples, weight, self;
    const char *name;
    uint32_t depth;
    uint16_t class;
    uint16_t java;
    struct diff_change change; /* only in comparisons */
};

struct svg {
    struct svg_page page;
    struct frame_names *names;
    uint64_t whole; /* the value that is 100 percent */
    uint64_t least; /* frames with a smaller value are left out */
    bool automatic; /* `least` may rise */
    struct svg_frame *frame;
    size_t len, cap, thin_out_at;
    uint64_t *left; /* where the next frame of each depth begins */
    size_t left_cap;
};

static int descending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Raises the limit until at most SVG_FRAMES remain, or until it has reached its maximum. */
static int thin_out(struct svg *v) {
    if (!v->automatic || v->len <= SVG_FRAMES)
        return 0;
    uint64_t *value = malloc(v->len * sizeof(*value));
    if (!value)
        return -ENOMEM;
    for (size_t i = 0; i < v->len; i++)
        value[i] = v->frame[i].value;
    qsort(value, v->len, sizeof(*value), descending);
    uint64_t most = (uint64_t)((double)v->whole * SVG_NARROW_MOST / 100);
    uint64_t least = value[SVG_FRAMES] + 1;
    free(value);
    if (least > most)
        least = most;
    if (least > v->least)
        v->least = least;

    size_t kept = 0;
    for (size_t i = 0; i < v->len; i++) {
        if (v->frame[i].value >= v->least)
            v->frame[kept++] = v->frame[i];
    }
    v->len = kept;
    if (v->thin_out_at < kept * 2)
        v->thin_out_at = kept * 2;
    return 0;
}

static int add_frame(struct svg *v, const struct svg_frame *f) {
    if (v->len >= v->thin_out_at) {
        int err = thin_out(v);
        if (err)
            return err;
    }
    if (v->len == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 1024;
        struct svg_frame *frame = realloc(v->frame, cap * sizeof(*frame));
        if (!frame)
            return -ENOMEM;
        v->frame = frame;
        v->cap = cap;
    }
    v->frame[v->len++] = *f;
    return 0;
}

static int visit(void *arg, const struct walked_frame *f) {
    struct svg *v = arg;
    if (f->depth + 2 > v->left_cap) {
        size_t cap = (size_t)f->depth * 2 + 64;
        uint64_t *left = realloc(v->left, cap * sizeof(*left));
        if (!left)
            return -ENOMEM;
        if (!v->left)
            left[0] = 0;
        v->left = left;
        v->left_cap = cap;
    }
    bool total = v->page.o->total;
    const struct method *m = frame_names_method(v->names, f->method);
    struct svg_frame frame = {
        .left = v->left[f->depth],
        .value = total ? f->total : f->total_samples,
        .samples = f->total_samples,
        .weight = f->total,
        .self = total ? f->self : f->self_samples,
        .name = f->name->text,
        .depth = f->depth + 1, /* 0 is "all" */
        .class = (uint16_t)frame_class_of(m->kind, f->tier),
        .java = m->kind == METHOD_JAVA || m->kind == METHOD_CLASS,
    };
    if (v->page.o->diff)
        frame.change = frame_change(v->page.o->diff, v->page.s, f);
    v->left[f->depth] += frame.value;
    v->left[f->depth + 1] = frame.left;
    if (!frame.value || frame.value < v->least)
        return FRAME_WALK_SKIP;
    return add_frame(v, &frame);
}

/* Appends 12.3456 as text, without zeros at the end. */
static void add_percent(struct text *out, uint64_t part, uint64_t whole) {
    char buf[32];
    int n = snprintf(buf, sizeof(buf), "%.4f", formats_percent(part, whole));
    while (n > 1 && buf[n - 1] == '0')
        n--;
    if (buf[n - 1] == '.')
        n--;
    text_add_n(out, buf, (size_t)n);
}

/* Appends "before 1.20%, +0.80", or "new". */
static void add_change(struct text *out, const struct svg *v, const struct svg_frame *f) {
    double before = formats_percent(f->value, v->whole) - f->change.percent;
    if (f->change.is_new)
        text_add(out, ", new");
    else
        text_addf(out, ", before %.2f%%, %+.2f", before > 0 ? before : 0, f->change.percent);
    if (f->change.chance)
        text_add(out, ", may be chance");
}

/* The sign of the change shows the same as the colour. */
static void add_label(struct text *out, const struct svg *v, const struct svg_frame *f,
                      unsigned columns) {
    char sign[32] = "";
    size_t n = 0;
    if (v->page.o->diff && f->depth && !f->change.chance)
        n = (size_t)snprintf(sign, sizeof sign, "%+.2f ", f->change.percent);
    struct text name = {0};
    if (columns > n)
        svg_text_add_label(&name, f->name, f->java, columns - (unsigned)n);
    if (name.len) {
        text_add(out, sign);
        text_add(out, name.data);
    }
    out->failed |= name.failed;
    text_free(&name);
}

static void draw(struct text *out, const struct svg *v, const struct svg_frame *f) {
    bool compared = v->page.o->diff && f->depth;
    const struct svg_page *g = &v->page;
    bool up = !g->o->inverted;
    unsigned y = SVG_HEAD + (up ? g->rows - 1 - f->depth : f->depth) * g->row;
    unsigned font = g->row > 16 ? 12 : g->row - 4;
    unsigned char letter = (unsigned char)frame_class_looks[f->class].letter;
    double pixels = formats_percent(f->value, v->whole) / 100 * (g->width - 2 * SVG_MARGIN);

    text_addf(out, "<g class=\"%c%u", letter, frame_class_shade(f->name));
    if (compared)
        text_addf(out, " d%u\" data-d=\"%.2f %u", frame_change_shade(f->change), f->change.percent,
                  f->change.chance | f->change.is_new << 1);
    text_addf(out,
              "\" data-f=\"%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\"><title>",
              f->depth, f->left, f->samples, f->weight, f->self);
    svg_text_add(out, f->name);
    text_add(out, " (");
    human_count(out, f->samples);
    text_addf(out, " sample%s, %.2f%%, ", f->samples == 1 ? "" : "s",
              formats_percent(f->value, v->whole));
    human_weight(out, f->weight, g->unit);
    if (compared)
        add_change(out, v, f);
    text_add(out, ")</title><rect x=\"");
    add_percent(out, f->left, v->whole);
    text_addf(out, "%%\" y=\"%u\" width=\"", y);
    add_percent(out, f->value, v->whole);
    text_addf(out, "%%\" height=\"%u\"/>", g->row - 1);
    if (pixels > 6 + font * COLUMN) {
        struct text label = {0};
        add_label(&label, v, f, (unsigned)((pixels - 6) / (font * COLUMN)));
        if (label.len) {
            text_add(out, "<text x=\"");
            add_percent(out, f->left, v->whole);
            text_addf(out, "%%\" dx=\"3\" y=\"%.1f\">%s</text>",
                      y + (g->row - 1) / 2.0 + font * 0.35, label.data);
        }
        out->failed |= label.failed;
        text_free(&label);
    }
    text_add(out, "</g>\n");
}

static void write_page(struct text *out, struct svg *v) {
    struct svg_page *g = &v->page;
    struct svg_frame all = {.value = v->whole,
                            .samples = g->s->samples,
                            .weight = g->s->weight,
                            .name = "all",
                            .class = CLASS_ERROR};
    g->rows = 1;
    g->hidden = formats_percent(v->least, v->whole);
    for (size_t i = 0; i < v->len; i++) {
        if (v->frame[i].depth >= g->rows)
            g->rows = v->frame[i].depth + 1;
        g->used[v->frame[i].class] = true;
    }
    svg_page_begin(out, g);
    draw(out, v, &all);
    for (size_t i = 0; i < v->len; i++)
        draw(out, v, &v->frame[i]);
    svg_page_end(out, g);
}

static unsigned within(uint32_t asked, unsigned otherwise, unsigned least, unsigned most) {
    unsigned n = asked ? asked : otherwise;
    return n < least ? least : n > most ? most : n;
}

int svg_export(struct text *out, const struct profile *p, const struct snapshot *s,
               const struct export_quality *q, const struct export_options *o) {
    struct export_options own = formats_options(o, q);
    o = &own;
    struct svg v = {
        .page = {.s = s,
                 .q = q,
                 .o = o,
                 .unit = q->unit ? q->unit : "total",
                 .width = within(o->width, SVG_WIDTH, 300, 32000),
                 .row = within(o->height, SVG_ROW, 10, 100)},
        .whole = o->total ? s->weight : s->samples,
        .automatic = !(o->minwidth > 0),
        .thin_out_at = SVG_THIN_OUT_AT,
    };
    v.least = (uint64_t)((double)v.whole * (v.automatic ? SVG_NARROW : o->minwidth) / 100);
    v.names = frame_names_new(profile_methods_const(p), formats_name_style(o), o->annotate, NULL);
    int err = v.names ? frame_walk(s, v.names, visit, &v) : -ENOMEM;
    if (!err)
        err = thin_out(&v);
    if (!err)
        write_page(out, &v);
    frame_names_free(v.names);
    free(v.frame);
    free(v.left);
    return err || out->failed ? -ENOMEM : 0;
}
