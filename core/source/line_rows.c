#include "core/source/line_rows.h"

#include <stdlib.h>
#include <string.h>

static bool add(struct line_rows *r, struct line_row row) {
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity ? r->capacity * 2 : 128;
        struct line_row *more = realloc(r->row, capacity * sizeof *more);
        if (!more)
            return false;
        r->row = more;
        r->capacity = capacity;
    }
    r->row[r->count++] = row;
    return true;
}

static bool is_open(const struct line_rows *r, uint32_t line) {
    uint32_t opened = r->opened < LINE_OPEN_MAX ? r->opened : LINE_OPEN_MAX;
    for (uint32_t i = 0; i < opened; i++)
        if (line >= r->open[i].from && line <= r->open[i].to)
            return true;
    return false;
}

/* Adds hidden lines. A fold takes a row itself, so a single line is shown instead. */
static bool add_hidden(struct line_rows *r, uint32_t from, uint32_t hidden) {
    return !hidden ||
           add(r, (struct line_row){
                      .line = from, .hidden = hidden > 1 ? hidden : 0, .at = LINE_ROW_NONE});
}

void line_rows_build(struct line_rows *r, const struct snapshot_line *line, uint32_t lines,
                     uint32_t source_lines, uint32_t context) {
    uint32_t next = 0, hidden = 0; /* next: index of the first entry of `line` not yet added */
    r->count = 0;
    if (lines && line[0].line == 0) {
        if (!add(r, (struct line_row){.line = 0, .at = 0}))
            return;
        next = 1;
    }
    uint32_t above = 0; /* the last line with samples; 0: none yet */
    for (uint32_t i = 1; i <= source_lines; i++) {
        bool has = next < lines && line[next].line == i;
        bool near =
            (above && i - above <= context) || (next < lines && line[next].line - i <= context);
        if (!has && !near && !is_open(r, i)) {
            hidden++;
            continue;
        }
        if (!add_hidden(r, i - hidden, hidden) ||
            !add(r, (struct line_row){.line = i, .at = has ? next : LINE_ROW_NONE}))
            return;
        hidden = 0;
        above = has ? i : above;
        next += has;
    }
    if (!add_hidden(r, source_lines + 1 - hidden, hidden))
        return;
    for (; next < lines; next++) /* beyond the source's end: another version, or no source */
        if (!add(r, (struct line_row){.line = line[next].line, .at = next}))
            return;
}

void line_rows_free(struct line_rows *r) {
    free(r->row);
    *r = (struct line_rows){0};
}

void line_rows_open(struct line_rows *r, uint32_t row) {
    const struct line_row *fold = &r->row[row];
    if (fold->hidden)
        r->open[r->opened++ % LINE_OPEN_MAX] =
            (struct line_range){fold->line, fold->line + fold->hidden - 1};
}

void line_rows_close_all(struct line_rows *r) {
    r->opened = 0;
}
