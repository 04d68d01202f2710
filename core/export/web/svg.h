/*
 * The sizes of the flame graph for svg_export.c, and its script and style.
 *
 *      head    title, what was measured, the line about the frame under the pointer
 *      frames  one row per level; roots at the bottom, or at the top when inverted
 *      legend  colours, and which frames are not drawn
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_WEB_SVG_H
#define JTOP_EXPORT_WEB_SVG_H

#include "core/export/export.h"
#include "core/export/frame_class.h"

#define SVG_WIDTH 1200 /* pixels, if no width was requested and no script runs */
#define SVG_ROW 16
#define SVG_MARGIN 10 /* left and right of the frames */
#define SVG_HEAD 84
#define SVG_LEGEND 30

struct svg_page {
    const struct snapshot *s;
    const struct export_quality *q;
    const struct export_options *o;
    const char *unit;    /* never NULL */
    unsigned width, row; /* pixels */
    unsigned rows;       /* levels drawn, including "all" */
    double hidden;       /* frames narrower than this percentage are not drawn */
    bool used[FRAME_CLASSES];
};

static inline unsigned svg_page_height(const struct svg_page *g) {
    return SVG_HEAD + g->rows * g->row + SVG_LEGEND;
}

/* The script and the style, unchanged from the source tree. */
extern const char svg_script_js[];
extern const char svg_style_css[];

#endif
