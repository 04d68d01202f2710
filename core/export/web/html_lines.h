/*
 * The frames of a page once more, in the text that async-profiler's pages have: programs that read
 * those, its converter for one, take ours as well. A browser passes over it.
 *
 *      const levels = Array(DEPTH);
 *      const cpool = [
 *      'all',
 *      'Xname',              X: 32 + how many characters it has in common with the name before it
 *      ];
 *
 *      f(NAME * 8 + TYPE,LEVEL,0,TOTAL)     names from 0, "all"; the root first
 *      u(NAME * 8 + TYPE,TOTAL)             a level down from the frame before
 *      n(NAME * 8 + TYPE,TOTAL)             on its level
 *
 * The numbers 0 are distances that follow from the widths. Source: FlameGraph.java of async-profiler's
 * converter (parseHtml).
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_WEB_HTML_LINES_H
#define JTOP_EXPORT_WEB_HTML_LINES_H

#include "core/export/frame_class.h"
#include "core/export/frame_names.h"

struct html_lines {
    struct text frames;
    uint32_t level; /* of the frame before; the root's is 0 */
    uint32_t depth; /* levels below the root */
};

/* The next frame in preorder, `depth` 0 below the root. `name`: of frame_names_by_id. */
void html_lines_add(struct html_lines *l, uint32_t depth, uint32_t name, enum frame_class c,
                    uint64_t value);

/* The script element with all of it; frees what is kept. `whole`: the root's. */
void html_lines_write(struct html_lines *l, struct text *out, const struct frame_names *names,
                      uint64_t whole);

#endif
