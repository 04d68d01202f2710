#include "core/export/svg.h"

#include "core/export/formats.h"
#include "core/export/human.h"
#include "core/export/svg_text.h"

#include <inttypes.h>
#include <string.h>

#define SEPARATOR " \xc2\xb7 "

static void add_title(struct text *out, const struct svg_page *g) {
    static const struct {
        const char *event, *title;
    } known[] = {
        {"cpu", "CPU profile"},
        {"wall", "Wall clock profile"},
        {"alloc", "Allocation profile"},
        {"lock", "Lock profile"},
    };
    const char *event = g->q->event ? g->q->event : "";
    if (g->o->title) {
        svg_text_add(out, g->o->title);
        return;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (!strcmp(event, known[i].event)) {
            text_add(out, known[i].title);
            return;
        }
    }
    svg_text_add(out, event[0] ? event : "Flame graph");
    text_add(out, event[0] ? " profile" : "");
}

static void add_failed(struct text *out, const struct svg_page *g) {
    uint64_t failed = 0;
    for (int i = 0; i < g->q->failed_count; i++)
        failed += g->q->failed[i].samples;
    if (!failed)
        return;
    text_add(out, SEPARATOR);
    human_count(out, failed);
    text_addf(out, " failed walk%s (%.2f%%", failed == 1 ? "" : "s",
              formats_percent(failed, g->s->samples));
    for (int i = 0; i < g->q->failed_count; i++) {
        if (!g->q->failed[i].samples)
            continue;
        text_add(out, ", ");
        svg_text_add(out, g->q->failed[i].name);
        text_add(out, " ");
        human_count(out, g->q->failed[i].samples);
    }
    text_add(out, ")");
}

/* What was measured, and how well. */
static void add_subtitle(struct text *out, const struct svg_page *g) {
    const struct export_quality *q = g->q;
    if (q->jvm) {
        svg_text_add(out, q->jvm);
        text_add(out, SEPARATOR);
    }
    if (q->event) {
        svg_text_add(out, q->event);
        if (q->interval) {
            text_add(out, " every ");
            human_weight(out, q->interval, g->unit);
        }
        text_add(out, SEPARATOR);
    }
    if (q->elapsed_ns) {
        human_weight(out, q->elapsed_ns, "ns");
        text_add(out, SEPARATOR);
    }
    human_count(out, g->s->samples);
    text_addf(out, " sample%s" SEPARATOR, g->s->samples == 1 ? "" : "s");
    human_count(out, q->dropped);
    text_add(out, " dropped");
    if (q->dropped)
        text_addf(out, " (%.2f%%)", formats_percent(q->dropped, g->s->samples + q->dropped));
    add_failed(out, g);
    if (q->walker) {
        text_add(out, SEPARATOR "walker ");
        svg_text_add(out, q->walker);
    }
    if (q->precise) {
        text_add(out, SEPARATOR "precise: ");
        svg_text_add(out, q->precise);
    }
    if (g->o->total) {
        text_add(out, SEPARATOR "widths are ");
        svg_text_add(out, g->unit);
    }
    if (g->o->reverse)
        text_add(out, SEPARATOR "from the leaf to its callers");
}

static void add_style(struct text *out, const struct svg_page *g) {
    text_add(out, "<style>\n");
    text_add(out, svg_style_css);
    for (int c = 0; c < FRAME_CLASSES; c++) {
        if (!g->used[c] && c != CLASS_ERROR)
            continue;
        for (unsigned shade = 0; shade < FRAME_SHADES; shade++)
            text_addf(out, ".%c%u rect{fill:#%06x}\n", frame_class_looks[c].letter, shade,
                      frame_class_colour((enum frame_class)c, shade));
    }
    text_add(out, "</style>\n");
}

void svg_page_begin(struct text *out, const struct svg_page *g) {
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

static void add_legend(struct text *out, const struct svg_page *g) {
    text_addf(out, "<text class=\"legend\" x=\"%d\" y=\"%u\">", SVG_MARGIN,
              svg_page_height(g) - 11);
    for (int c = 0; c < FRAME_CLASSES; c++) {
        if (g->used[c])
            text_addf(out, "<tspan fill=\"#%06x\">\xe2\x96\xa0</tspan> %s\xe2\x80\x83",
                      frame_class_colour((enum frame_class)c, FRAME_SHADES / 2),
                      frame_class_looks[c].label);
    }
    if (!g->s->samples)
        text_add(out, "no samples");
    else if (g->hidden > 0)
        text_addf(out, "frames under %.2g%% are not drawn", g->hidden);
    text_add(out, "</text>\n");
}

void svg_page_end(struct text *out, const struct svg_page *g) {
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
