/*
 * Writes a page and its data in a compact form: a browser can show a million frames of it. The page
 * is self-contained and loads nothing from the network.
 *
 * The data are the frames in preorder. Numbers are little endian base 128, and all of it is base64:
 *
 *      (levels up from the previous frame) × 16 + class  a child is 0 levels up
 *      name
 *      count, self                                      in the counter that sets the widths
 *      the other counter, as its difference from the expected average, zigzag
 *      change in 1/1000 percent × 4 + chance + 2 × new  zigzag; only in comparisons
 *
 * Names are JSON; no name can end the script element.
 */
#include "core/export/web/html.h"
#include "core/export/web/html_lines.h"

#include "core/base/grow.h"
#include "core/export/caption.h"
#include "core/export/formats.h"
#include "core/export/frame_class.h"
#include "core/export/json_text.h"
#include "core/export/svg_text.h"
#include "core/export/frame_change.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 1000000u /* if there are more, the narrowest are left out */

struct html {
    struct text *out;
    struct text data; /* bytes not encoded in base64 yet, at most a few */
    const struct snapshot *s;
    const struct export_options *o;
    struct frame_names *names;
    uint64_t whole, other_whole;
    uint64_t least; /* frames with a smaller value are left out */
    uint32_t depth; /* depth of the previous frame */
    uint32_t frames, levels;
    bool used[FRAME_CLASSES];
    struct html_lines lines; /* not used in comparisons */
};

static void add_base64(struct text *out, const unsigned char *in, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char buf[4096];
    size_t len = 0;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16;
        v |= i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0;
        v |= i + 2 < n ? in[i + 2] : 0;
        buf[len++] = digits[v >> 18];
        buf[len++] = digits[v >> 12 & 63];
        buf[len++] = i + 1 < n ? digits[v >> 6 & 63] : '=';
        buf[len++] = i + 2 < n ? digits[v & 63] : '=';
        if (len == sizeof buf) {
            text_add_n(out, buf, len);
            len = 0;
        }
    }
    text_add_n(out, buf, len);
}

/* Encodes whole groups of three bytes, or at the end everything. */
static void flush(struct html *h, bool all) {
    size_t n = all ? h->data.len : h->data.len / 3 * 3;
    if (h->data.failed || !n)
        return;
    add_base64(h->out, (const unsigned char *)h->data.data, n);
    memmove(h->data.data, h->data.data + n, h->data.len - n);
    h->data.len -= n;
}

static size_t number(char *to, uint64_t n) {
    size_t len = 0;
    for (; n > 0x7f; n >>= 7)
        to[len++] = (char)(n | 0x80);
    to[len++] = (char)n;
    return len;
}

static uint64_t zigzag(int64_t n) {
    return (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0);
}

/* Returns what the other counter would be if all samples were alike. The page computes it in the
 * same way. */
static int64_t average(const struct html *h, uint64_t value) {
    return h->whole ? (int64_t)((double)value / (double)h->whole * (double)h->other_whole + 0.5)
                    : 0;
}

static uint64_t change_of(const struct html *h, const struct walked_frame *f) {
    struct diff_change c = frame_change(h->o->diff, h->s, f);
    double thousandths = c.percent * 1000;
    int64_t n = (int64_t)(thousandths < 0 ? thousandths - 0.5 : thousandths + 0.5);
    return zigzag(n) << 2 | (c.is_new ? 2u : 0u) | (c.chance ? 1u : 0u);
}

static int visit(void *arg, const struct walked_frame *f) {
    struct html *h = arg;
    bool total = h->o->total;
    uint64_t value = total ? f->total : f->total_samples;
    uint64_t other = total ? f->total_samples : f->total;
    if (!value || value < h->least)
        return FRAME_WALK_SKIP;
    const struct method *m = frame_names_method(h->names, f->method);
    enum frame_class c = frame_class_of(m->kind, f->tier);
    char buf[64];
    size_t n = number(buf, (uint64_t)(h->depth - f->depth) << 4 | c);
    n += number(buf + n, f->name->id);
    n += number(buf + n, value);
    n += number(buf + n, total ? f->self : f->self_samples);
    n += number(buf + n, zigzag((int64_t)other - average(h, value)));
    if (h->o->diff)
        n += number(buf + n, change_of(h, f));
    text_add_n(&h->data, buf, n);
    if (h->data.len > 3000)
        flush(h, false);
    h->depth = f->depth + 1;
    h->frames++;
    h->levels = h->levels > h->depth ? h->levels : h->depth;
    h->used[c] = true;
    if (!h->o->diff)
        html_lines_add(&h->lines, f->depth, f->name->id, c, value);
    return h->data.failed || h->out->failed ? -ENOMEM : 0;
}

static int descending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The values of all frames. Most are very small: those worth fewer than 64 samples are counted per
 * value, and only the rest is listed. */
struct values {
    bool total;
    uint64_t unit; /* what a sample is worth on average */
    uint32_t few[65];
    uint64_t *many;
    uint32_t count, cap;
};

static int add_value(struct values *v, uint64_t value) {
    if (value / v->unit < 64) {
        v->few[value / v->unit]++;
        return 0;
    }
    if (!GROW(v->many, v->count, v->cap))
        return -ENOMEM;
    v->many[v->count++] = value;
    return 0;
}

static int count_frame(void *arg, const struct walked_frame *f) {
    struct values *v = arg;
    return add_value(v, v->total ? f->total : f->total_samples);
}

static uint64_t least_of(struct values *v) {
    uint32_t room = FRAMES_MAX - v->count, step = 64;
    if (v->count > FRAMES_MAX) {
        qsort(v->many, v->count, sizeof *v->many, descending);
        return v->many[FRAMES_MAX] + 1;
    }
    while (step && v->few[step - 1] <= room)
        room -= v->few[--step];
    return step * v->unit;
}

static struct frame_names *new_names(const struct profile *p, const struct export_options *o) {
    return frame_names_new(profile_methods_const(p), formats_name_style(o), o->annotate, NULL);
}

/* Finds the limit that leaves at most FRAMES_MAX frames. */
static int find_least(struct html *h, const struct profile *p) {
    const struct snapshot *s = h->s;
    if (h->o->minwidth > 0)
        h->least = (uint64_t)((double)h->whole * h->o->minwidth / 100);
    if ((s->forks ? profile_node_count(p) : s->node_count) <= FRAMES_MAX || h->o->minwidth > 0)
        return 0;
    struct values v = {.total = h->o->total, .unit = 1};
    if (v.total && s->samples && h->whole / s->samples)
        v.unit = h->whole / s->samples;
    /* With names of its own, because those of frames that are left out get no number. */
    struct frame_names *names = s->forks ? new_names(p, h->o) : NULL;
    int err = !s->forks ? 0 : names ? frame_walk(s, names, count_frame, &v) : -ENOMEM;
    for (uint32_t i = 0; i < s->node_count && !err; i++)
        err = add_value(&v, v.total ? s->nodes[i].total : s->nodes[i].total_samples);
    if (!err)
        h->least = least_of(&v);
    frame_names_free(names);
    free(v.many);
    return err;
}

static void escaped(struct text *out, const struct text *plain) {
    out->failed |= plain->failed;
    if (plain->data)
        svg_text_add(out, plain->data);
}

static void begin_page(struct html *h, const struct export_quality *q,
                       const struct html_view *view) {
    struct text title = {0}, subtitle = {0};
    struct text *out = h->out;
    caption_title(&title, q, h->o);
    caption_subtitle(&subtitle, h->s, q, h->o);
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"generator\" content=\"jtop-prof " JTOP_VERSION "\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>");
    escaped(out, &title);
    if (q->jvm) {
        text_add(out, " \xc2\xb7 ");
        svg_text_add(out, q->jvm);
    }
    text_add(out, "</title>\n<style>\n");
    text_add(out, html_style_css);
    text_add(out, view->style);
    text_add(out, "</style>\n</head>\n<body>\n<header>\n<div class=\"bar\"><h1 class=\"title\">");
    escaped(out, &title);
    text_add(out, "</h1><span class=\"status\" role=\"status\"></span>");
    text_add(out, view->buttons);
    text_add(out, "<input type=\"search\" placeholder=\"Search (regular expression)\" "
                  "aria-label=\"Search frames by regular expression\" spellcheck=\"false\" "
                  "autocomplete=\"off\"></div>\n<p class=\"subtitle\">");
    escaped(out, &subtitle);
    text_add(out, "</p>\n<div class=\"line\"><span class=\"hover\" aria-live=\"polite\"></span>"
                  "<span class=\"stats\"></span></div>\n</header>\n");
    text_add(out, view->body);
    text_add(out, "\n<footer></footer>\n<script type=\"text/plain\" id=\"frames\">");
    text_free(&title);
    text_free(&subtitle);
}

static void add_looks(struct html *h) {
    struct text *out = h->out;
    text_add(out, ",\n\"classes\":[");
    for (int c = 0; c < FRAME_CLASSES; c++) {
        const struct frame_class_look *look = &frame_class_looks[c];
        text_addf(out, "%s{\"letter\":\"%c\",\"label\":\"%s\",\"used\":%s,\"colours\":[",
                  c ? "," : "", look->letter, look->label, h->used[c] ? "true" : "false");
        for (unsigned shade = 0; shade < FRAME_SHADES; shade++)
            text_addf(out, "%s\"#%06x\"", shade ? "," : "",
                      frame_class_colour((enum frame_class)c, shade));
        text_add(out, "]}");
    }
    text_add(out, "],\n\"changes\":[");
    for (unsigned i = 0; i < CHANGE_SHADES; i++)
        text_addf(out, "%s\"#%06x\"", i ? "," : "", frame_change_colour(i));
    text_add(out, "]");
}

static void end_page(struct html *h, const struct export_quality *q, const struct html_view *view) {
    struct text *out = h->out;
    text_add(out, "</script>\n<script type=\"application/json\" id=\"profile\">{\"unit\":");
    json_text_string(out, q->unit ? q->unit : "total");
    text_addf(out,
              ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"total\":%s,\"inverted\":%s,"
              "\"diff\":%s,\"frames\":%" PRIu32 ",\"levels\":%" PRIu32 ",\"hidden\":%.9g",
              h->s->samples, h->s->weight, h->o->total ? "true" : "false",
              h->o->inverted ? "true" : "false", h->o->diff ? "true" : "false", h->frames,
              h->levels, formats_percent(h->least, h->whole));
    add_looks(h);
    text_add(out, ",\n\"names\":[");
    for (uint32_t i = 0; i < frame_names_count(h->names); i++) {
        text_add(out, i ? ",\n" : "\n");
        json_text_string(out, frame_names_by_id(h->names, i)->text);
    }
    text_add(out, "]}</script>\n");
    if (!h->o->diff)
        html_lines_write(&h->lines, out, h->names, h->whole);
    text_add(out, "<script>\n");
    text_add(out, html_data_js);
    text_add(out, view->script);
    text_add(out, "</script>\n</body>\n</html>\n");
}

int html_page(struct text *out, const struct profile *p, const struct snapshot *s,
              const struct export_quality *q, const struct export_options *o,
              const struct html_view *view) {
    struct export_options own = formats_options(o, q);
    o = &own;
    struct html h = {.out = out,
                     .s = s,
                     .o = o,
                     .whole = o->total ? s->weight : s->samples,
                     .other_whole = o->total ? s->samples : s->weight};
    h.names = new_names(p, o);
    int err = h.names ? find_least(&h, p) : -ENOMEM;
    if (!err) {
        begin_page(&h, q, view);
        err = frame_walk(s, h.names, visit, &h);
        flush(&h, true);
        end_page(&h, q, view);
    }
    out->failed |= h.data.failed;
    frame_names_free(h.names);
    text_free(&h.data);
    text_free(&h.lines.frames);
    return err || out->failed ? -ENOMEM : 0;
}
