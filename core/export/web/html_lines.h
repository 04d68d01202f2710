/*
 * The frames of a page a second time, in the text form of async-profiler's pages. Programs that
 * read those pages, such as async-profiler's converter, can read ours as well. A browser ignores
 * this text.
 *
 *      const levels = Array(DEPTH);
 *      const cpool = [
 *      'all',
 *      'Xname',              X: character 32 + length of the prefix shared with the name before
 *      ];
 *
 *      f(NAME * 8 + TYPE,LEVEL,0,TOTAL)     names are numbered from 0 ("all"); the root is first
 *      u(NAME * 8 + TYPE,TOTAL)             one level below the previous frame
 *      n(NAME * 8 + TYPE,TOTAL)             on the level of the previous frame
 *
 * The numbers 0 are distances; readers compute them from the widths. Source: FlameGraph.java of
 * async-profiler's converter (parseHtml).
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_WEB_HTML_LINES_H
#define JTOP_EXPORT_WEB_HTML_LINES_H

#include "core/export/frame_class.h"
#include "core/export/frame_names.h"

struct html_lines {
    struct text
        frames;     /* of each frame level, key and value, as numbers in base 128: there may be a
                           million */
    uint32_t depth; /* levels below the root */
};

/* Adds the next frame in preorder; `depth` is 0 for frames directly below the root. `name`: id from
 * frame_names_by_id. */
void html_lines_add(struct html_lines *l, uint32_t depth, uint32_t name, enum frame_class c,
                    uint64_t value);

/* Writes the script element with all lines, and frees what was kept. `whole`: the root's value. */
void html_lines_write(struct html_lines *l, struct text *out, const struct frame_names *names,
                      uint64_t whole);

#endif
