/*
 * Files:
 *   html          interface of the HTML page builder, and the embedded scripts
 *   html_assets   scripts and styles of the HTML pages, embedded in the program
 *   html_export   HTML exports: flame graph and call tree
 *   html_lines    frames in the text form of async-profiler's HTML, for its tools
 *   html_page     builder of a self-contained HTML page with the frames as data
 *   svg           sizes of the SVG flame graph, and its embedded script and style
 *   svg_assets    script and style of the SVG flame graph, embedded in the program
 *   svg_export    SVG export: interactive flame graph
 *
 * Builds self-contained pages: the frames of a snapshot as data, and a script that shows them.
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_WEB_HTML_H
#define JTOP_EXPORT_WEB_HTML_H

#include "core/export/export.h"

/* One way of showing the frames. */
struct html_view {
    const char *style;   /* style in addition to the one that all pages have; or "" */
    const char *buttons; /* in the bar at the top of the page, as HTML */
    const char *body;    /* between the page's head and foot, as HTML */
    const char *script;  /* script in addition to the one that all pages have */
};

/* 0 or -ENOMEM. */
int html_page(struct text *out, const struct profile *p, const struct snapshot *s,
              const struct export_quality *q, const struct export_options *o,
              const struct html_view *view);

/* The files of the source tree, unchanged. */
extern const char html_data_js[];
extern const char html_script_js[];
extern const char html_style_css[];
extern const char tree_script_js[];
extern const char tree_style_css[];

#endif
