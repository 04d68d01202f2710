/*
 * Exports the flame graph as a page that draws on a canvas.
 */
#include "core/export/formats.h"

#include "core/export/web/html.h"

int html_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o) {
    static const struct html_view flames = {
        .style = "",
        .buttons =
            "<button class=\"reset\" hidden>Reset zoom</button>"
            "<button class=\"invert\" title=\"Roots at the top or bottom: key i\">Flip</button>"
            "<button class=\"reverse\" title=\"Start stacks at the leaf or at the root: key "
            "r\">Reverse stacks</button>",
        .body = "<main tabindex=\"0\" role=\"application\" aria-label=\"Flame graph\">"
                "<div class=\"room\"><canvas></canvas></div></main>",
        .script = html_script_js,
    };
    return html_page(out, p, s, q, o, &flames);
}

/*
 * Exports the call tree as a page. The user unfolds frames; children are sorted, heaviest first.
 */

int tree_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o) {
    static const struct html_view tree = {
        .style = tree_style_css,
        .buttons = "<button class=\"hottest\" title=\"Key h\">Unfold hottest</button>"
                   "<button class=\"fold-all\" title=\"Key c\">Fold all</button>"
                   "<button class=\"reverse\" title=\"Start stacks at the leaf or at the root: "
                   "key r\">Reverse stacks</button>",
        .body = "<div class=\"heads\"><span class=\"share\">total</span>"
                "<span class=\"self\">self</span><span class=\"count\">samples</span>"
                "<span class=\"weight\">weight</span></div>\n"
                "<main tabindex=\"0\"><div class=\"room\" role=\"tree\" "
                "aria-label=\"Call tree\"></div></main>",
        .script = tree_script_js,
    };
    return html_page(out, p, s, q, o, &tree);
}
