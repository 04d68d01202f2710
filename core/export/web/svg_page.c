#include "core/export/web/svg.h"

#include "core/export/caption.h"
#include "core/export/formats.h"
#include "core/export/svg_text.h"
#include "core/export/web/frame_change.h"

#define SEPARATOR " \xc2\xb7 "

/* What caption.c says, as the page needs it. */
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

static void add_to_legend(struct text *out, uint32_t colour, const char *label) {
    text_addf(out, "<tspan fill=\"#%06x\">\xe2\x96\xa0</tspan> %s\xe2\x80\x83", colour, label);
}

static void add_legend(struct text *out, const struct svg_page *g) {
    text_addf(out, "<text class=\"legend\" x=\"%d\" y=\"%u\">", SVG_MARGIN,
              svg_page_height(g) - 11);
    if (g->o->diff) {
        add_to_legend(out, frame_change_colour(CHANGE_SHADES - 1), "+ more than before");
        add_to_legend(out, frame_change_colour(0), "- less");
        add_to_legend(out, frame_change_colour(CHANGE_SHADES / 2), "no more than chance");
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
